import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { AuditEvent } from "../../src/audit/audit.ts";
import { encodeLine } from "../../src/audit/line.ts";
import { type AuditLine, readAudit, type ReadAuditOptions } from "../../src/audit/reader.ts";
import { systemClock } from "../../src/clock/clock.ts";
import type { Finding } from "../../src/errors/finding.ts";

/** Folders that are gone after the tests of the `describe` that it was called in. */
export function folders(): () => string {
  const made: string[] = [];
  after(() => {
    for (const dir of made) rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    const dir = mkdtempSync(join(tmpdir(), "reyn-audit-"));
    made.push(dir);
    return dir;
  };
}

export const NOON = Date.UTC(2026, 10, 30, 12);

/** The event `n`, a second after event `n - 1`. */
export function sample(n: number, rest: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: `e-${n}`,
    type: "turn_settled",
    timestamp: new Date(NOON + n * 1000).toISOString(),
    session: "default/main",
    data: { kind: "human", chain_id: null, seq: n },
    ...rest,
  };
}

export function lines(...events: readonly AuditEvent[]): string {
  return events.map((event) => encodeLine(event) + "\n").join("");
}

export function write(dir: string, name: string, content: string | Uint8Array): void {
  writeFileSync(join(dir, name), content);
}

/** Every line of every file, parsed as JSON, files in order of their names. */
export function stored(dir: string): AuditEvent[] {
  return readdirSync(dir).sort().flatMap((name) =>
    readFileSync(join(dir, name), "utf8").split("\n").filter((line) => line !== "")
      .map((line) => JSON.parse(line) as AuditEvent)
  );
}

export interface Read {
  lines: AuditLine[];
  ids: string[];
  problems: Finding[];
}

export async function read(dir: string, options: Partial<ReadAuditOptions> = {}): Promise<Read> {
  const problems: Finding[] = [];
  const found: AuditLine[] = [];
  const all = readAudit({
    dir,
    clock: systemClock,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  for await (const line of all) found.push(line);
  return { lines: found, ids: found.map((line) => line.event.id), problems };
}

/** Waits, up to five seconds of real time, until the condition holds. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 5_000; !condition();) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
