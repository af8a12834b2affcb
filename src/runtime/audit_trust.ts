import process from "node:process";
import type { Audit } from "../audit/audit.ts";
import { openAudit } from "../audit/writer.ts";
import { isInside } from "../config/authority.ts";
import type { JudgedClaim } from "../config/trust_claim.ts";
import { formatFinding } from "../errors/finding.ts";
import { type Configuration, requireUsable } from "./configuration.ts";
import type { RuntimeHost } from "./open_bare.ts";
import { eventsDir } from "./places.ts";

export interface AuditTrustOptions {
  controlDir: string;
  host: Pick<RuntimeHost, "ioClock" | "ids">;
  /** Lines for the operator. */
  talk: (line: string) => void;
}

/** Keys that one event names. */
const MOST_KEYS = 50;

/**
 * Throws, with all findings, when a configuration may not start, and leaves a record where that is because the project is not
 * trusted.
 */
export async function requireStart(configuration: Configuration, options: AuditTrustOptions): Promise<void> {
  const refused = untrustedKeys(configuration);
  if (refused) await auditTrust(options, (audit) => audit.emit("project_untrusted", null, refused));
  requireUsable(configuration);
}

/** What a refused start is for want of trust in; undefined where trust is not what is missing. */
export function untrustedKeys({ usable, claims }: Configuration): ReturnType<typeof keysOf> | undefined {
  const refused = claims.filter(({ verdict }) => verdict.state !== "trusted");
  return usable || refused.length === 0 ? undefined : keysOf(refused);
}

/** Writes an event to the log of a control folder in which nothing runs. The log never stops what it tells of. */
export async function auditTrust(options: AuditTrustOptions, emit: (audit: Audit) => void): Promise<void> {
  const { controlDir, host, talk } = options;
  const dir = eventsDir(controlDir);
  if (!isInside(dir, controlDir)) {
    talk("no audit event is written: .reyn/events leads out of the control folder\n");
    return;
  }
  const audit = openAudit({
    dir,
    clock: host.ioClock,
    ids: host.ids,
    pid: process.pid,
    onProblem: (problem) => talk(`${formatFinding(problem)}\n`),
  });
  emit(audit);
  await audit.close();
}

export function keysOf(
  claims: readonly Pick<JudgedClaim, "file" | "key">[],
): { keys: string[]; more: number } {
  const keys = claims.map(({ file, key }) => `${file} ${key}`);
  return { keys: keys.slice(0, MOST_KEYS), more: Math.max(0, keys.length - MOST_KEYS) };
}
