import type { AuthorityItem } from "./authority.ts";
import type { EnvUse } from "./env_expand.ts";
import { addFinding, type LoadedFile } from "./load_file.ts";
import { formatPath, valueAt } from "./path.ts";
import type { Path } from "./section.ts";
import type { JudgeTrust, TrustClaim, TrustVerdict } from "./trust_claim.ts";

/** Most values of one file that can be trusted: a person has to read them. */
export const MOST_CLAIMS = 500;

/** A claim with what is needed to report it. */
interface OpenClaim extends TrustClaim {
  path: Path;
  at: "value" | "key";
}

/**
 * What in a value of a project file needs trust: each place once, whether it is for its key, for a variable that it
 * reads, or for both.
 */
export function claimsOf(
  file: LoadedFile,
  base: Path,
  value: unknown,
  read: readonly EnvUse[],
  items: readonly AuthorityItem[],
): OpenClaim[] {
  const claims = new Map<string, OpenClaim>();
  const add = (path: Path, at: "value" | "key", item: Partial<AuthorityItem>) => {
    const id = JSON.stringify(path);
    const known = claims.get(id);
    const full = [...base, ...path];
    claims.set(id, {
      path: full,
      at: known?.at ?? at,
      file: file.shown,
      key: formatPath(full),
      place: () => placeOf(file, full, known?.at ?? at),
      value: valueAt(value, path),
      reasons: [...known?.reasons ?? [], ...item.reason === undefined ? [] : [item.reason]],
      argvs: item.argvs ?? [],
      operatorOnly: item.operatorOnly === true,
    });
  };
  for (const { path } of read) add(path, "value", { reason: "it reads the environment" });
  for (const item of items) add(item.path, "key", item);
  return [...claims.values()];
}

/** Judges a claim, keeps it with the file, and reports it when it is not trusted. */
export function judgeClaim(file: LoadedFile, open: OpenClaim, judge: JudgeTrust | undefined): boolean {
  const { path, at, ...claim } = open;
  if (file.claims.length >= MOST_CLAIMS) {
    const message =
      `more than ${MOST_CLAIMS} values of this file need trust, which is more than a person reads`;
    addFinding(file, [], "E_PROJECT_UNTRUSTED", message, { fix: "set some of them in ~/.reyn/config.yaml" });
    return false;
  }
  const verdict: TrustVerdict = claim.operatorOnly
    ? { state: "operator_only" }
    : judge?.(claim) ?? { state: "new" };
  file.claims.push({ ...claim, verdict });
  if (verdict.state === "trusted") return true;
  const { message, fix } = trustRefusal(claim, verdict);
  addFinding(file, path, "E_PROJECT_UNTRUSTED", message, { fix, at });
  return false;
}

/** What is said of a claim that is not trusted, and what helps. */
export function trustRefusal(
  { reasons }: Pick<TrustClaim, "reasons">,
  verdict: Exclude<TrustVerdict, { state: "trusted" }>,
): { message: string; fix: string } {
  const why = reasons.length === 0 ? "" : `: ${reasons.join(", ")}`;
  switch (verdict.state) {
    case "operator_only":
      return { message: `a project file may not set this${why}`, fix: "only ~/.reyn/config.yaml may set it" };
    case "new":
      return { message: `needs your trust${why}`, fix: "`reyn trust` shows what it is and records it" };
    case "changed":
      return {
        message: `is not what you trusted on ${verdict.since}: ${verdict.what.join(", ")}`,
        fix: "`reyn trust` shows what it is now and records it",
      };
  }
}

function placeOf(file: LoadedFile, path: Path, at: "value" | "key") {
  const { document, shown } = file;
  if (!document) return { file: shown, line: 1, column: 1 };
  return at === "key" ? document.locateKey(path) : document.locate(path);
}
