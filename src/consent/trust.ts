import type { JudgeTrust, TrustClaim, TrustVerdict } from "../config/trust_claim.ts";
import { contentHashes } from "./content_hash.ts";
import { fileChanges } from "./describe_change.ts";
import { type CodeAround, codeNow, codeOf } from "./trust_code.ts";
import type { TrustFile } from "./trust_file.ts";
import { type TrustedKey, type TrustRecord, valueHash } from "./trust_record.ts";

/** What a trust of a claim would be bound to, as the disk is now. */
export type Bound = { ok: true; key: TrustedKey } | { ok: false; reason: string };

/** What the operator trusts of one control folder. */
export interface Trust {
  /** The control folder, symlinks followed: what a record is for. */
  readonly folder: string;
  /** What is recorded; read once, when it is first needed. */
  record(): TrustRecord | undefined;
  /** Holds a claim against the record. Reads code files, so it is for a start. */
  judge: JudgeTrust;
  bind(claim: TrustClaim): Bound;
  /**
   * Looks again at the code of an argv that some of the claims hold: undefined when it still is what is trusted, else
   * what is different. For each run of it, as files may change while the process lives.
   */
  recheck(argv: readonly string[], claims: readonly TrustClaim[]): Promise<string | undefined>;
}

export function projectTrust(file: TrustFile, around: CodeAround): Trust {
  const { folder } = around;
  const hashes = contentHashes();
  let read: { record: TrustRecord | undefined } | undefined;
  const record = () => (read ??= { record: file.find(folder) }).record;
  const recorded = (claim: TrustClaim) =>
    record()?.keys.find((one) => one.file === claim.file && one.key === claim.key);

  const judge = (claim: TrustClaim): TrustVerdict => {
    const known = recorded(claim);
    if (!known) return { state: "new" };
    // Files are read only for a value that was trusted: what a stranger's project names costs nothing.
    const what = known.sha256 === valueHash(claim.value) ? codeChanges(known) : ["its value changed"];
    if (what.length === 0) return { state: "trusted" };
    return { state: "changed", since: (record()?.trustedAt ?? "").slice(0, 10), what };

    function codeChanges({ code: before }: TrustedKey): string[] {
      const now = codeNow(claim.argvs, around, hashes);
      return now.ok ? fileChanges(before, now.code) : [now.reason];
    }
  };

  return {
    folder,
    record,
    judge,
    bind(claim) {
      const now = codeNow(claim.argvs, around, hashes);
      if (!now.ok) return now;
      const { file: name, key, value } = claim;
      return { ok: true, key: { file: name, key, sha256: valueHash(value), code: now.code } };
    },
    async recheck(argv, claims) {
      const text = JSON.stringify(argv);
      const claim = claims.find(({ argvs }) => argvs.some((one) => JSON.stringify(one) === text));
      if (!claim) return undefined;
      const now = await codeOf(claim.argvs, around, hashes);
      if (!now.ok) return now.reason;
      const changes = fileChanges(recorded(claim)?.code ?? {}, now.code);
      return changes.length === 0 ? undefined : changes.join(", ");
    },
  };
}
