import type { JudgedClaim } from "../config/trust_claim.ts";
import type { Bound } from "../consent/trust.ts";
import type { TrustedKey } from "../consent/trust_record.ts";
import type { Stored } from "../consent/list_store.ts";
import { type Finding, isError } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import type { Configuration } from "./configuration.ts";
import { projectDecisions } from "./decision_overview.ts";
import { trustOf } from "./trust.ts";

/** Exactly what a trust in a control folder would stand for, as the disk is now. */
export interface TrustReview {
  /** Symlinks followed. */
  folder: string;
  /** Of the record of all projects. */
  path: string;
  /** ISO 8601; null when nothing is recorded for the folder. */
  trustedAt: string | null;
  /** In the order of the files. */
  items: readonly { claim: JudgedClaim; bound: Bound }[];
  /** Recorded, and no longer set or no longer in need of trust. */
  gone: readonly TrustedKey[];
  /** What has to be put right before anything can be recorded. */
  blockers: readonly Finding[];
  /** Why the record, or a part of it, counts for nothing. */
  problems(): readonly Finding[];
  /** Records the items as they were looked at, instead of what was recorded. `at`: ISO 8601, UTC. */
  store(at: string): Promise<Stored>;
}

/** Codes that trust is about: no reason to withhold it. */
const ABOUT_TRUST = new Set(["E_PROJECT_UNTRUSTED", "E_TRUST_UNSAFE", "E_TRUST_DAMAGED"]);

export function reviewTrust(configuration: Configuration, controlDir: string): TrustReview {
  const { findings, layers } = configuration;
  const decisions = projectDecisions(controlDir);
  const claims = [...configuration.claims, ...decisions.claims];
  const { trust, file } = trustOf(controlDir);
  const record = trust.record();
  const items = claims.map((claim) => ({ claim, bound: trust.bind(claim) }));
  // A file that would be left out alone changes nothing about what is shown.
  const needed = new Set(
    layers.filter(({ layer }) => layer === "operator" || layer === "startup").map((one) => one.file),
  );
  const wrong = findings.filter((one) =>
    isError(one) && !ABOUT_TRUST.has(one.code) && (!one.place || needed.has(one.place.file))
  );
  const tooMany = findings.filter((one) => one.code === "E_PROJECT_UNTRUSTED" && one.subject === undefined);
  return {
    folder: trust.folder,
    path: file.path,
    trustedAt: record?.trustedAt ?? null,
    items,
    gone: (record?.keys ?? []).filter((one) =>
      !claims.some((claim) => claim.file === one.file && claim.key === one.key)
    ),
    blockers: [
      ...wrong,
      ...decisions.findings.filter(isError),
      ...tooMany,
      ...items.flatMap((item) => blockerOf(item.claim, item.bound)),
    ],
    problems: () => file.problems(),
    store: (at) =>
      file.store({
        folder: trust.folder,
        trustedAt: at,
        keys: items.flatMap(({ bound }) => bound.ok ? [bound.key] : []),
      }),
  };
}

function blockerOf(claim: JudgedClaim, bound: Bound): Finding[] {
  const rest = { subject: claim.key, place: claim.place() };
  if (claim.operatorOnly) {
    const message = `a project file may not set this: ${claim.reasons.join(", ")}`;
    return [finding("E_PROJECT_UNTRUSTED", message, { ...rest, fix: "only ~/.reyn/config.yaml may set it" })];
  }
  if (bound.ok) return [];
  const message = `trust cannot be bound to what it names: ${bound.reason}`;
  return [finding("E_PROJECT_UNTRUSTED", message, { ...rest, fix: "name another file" })];
}

/** Takes back all trust in a control folder. */
export async function revokeTrust(
  controlDir: string,
): Promise<{ folder: string; path: string; done: Stored & { revoked: boolean } }> {
  const { trust, file } = trustOf(controlDir);
  return { folder: trust.folder, path: file.path, done: await file.revoke(trust.folder) };
}
