import { readAudit } from "../audit/reader.ts";
import type { Clock } from "../clock/clock.ts";
import type { JudgedClaim } from "../config/trust_claim.ts";
import { checkDeclaration } from "../decisions/check_declaration.ts";
import { findConfig } from "../decisions/find_config.ts";
import { type DecisionRow, listDecisionHooks } from "../decisions/list_hooks.ts";
import { readDeclaration } from "../decisions/read_declaration.ts";
import { judgedClaims } from "../decisions/trust_claims.ts";
import type { Finding } from "../errors/finding.ts";
import type { DecisionSetup } from "./decisions.ts";
import { logBounds } from "./hook_log.ts";
import { eventsDir } from "./places.ts";
import { homeFolder } from "./surroundings.ts";
import { trustOf } from "./trust.ts";

/** A decision hook, and what the log says it has done. */
export interface ListedDecision {
  row: DecisionRow;
  /** Times that it changed something, gave no usable answer, refused a step. */
  counts: { decided: number; failed: number; refused: number };
  last: { timestamp: string; event: string; text: string } | null;
}

export interface DecisionList {
  /** The file that declares them, as findings show it; null when there is none. */
  config: string | null;
  chainTimeoutSeconds: number | null;
  hooks: readonly ListedDecision[];
  /** Why it cannot be read. */
  findings: readonly Finding[];
}

type Told = Pick<ListedDecision, "counts" | "last">;

const EVENTS = ["hooks.decided", "hooks.failed", "hooks.refused"] as const;

/** Every declared decision hook. Reads the declaration and the audit log; imports and contacts nothing. */
export async function listDecisions(
  { place, deps }: DecisionSetup,
  controlDir: string,
  clock: Clock,
): Promise<DecisionList> {
  const { hooks, ...rest } = listDecisionHooks(place, deps);
  if (hooks.length === 0) return { ...rest, hooks: [] };
  const told = await toldOf(controlDir, clock);
  return { ...rest, hooks: hooks.map((row) => ({ row, ...told.get(row.name) ?? nothing() })) };
}

function nothing(): Told {
  return { counts: { decided: 0, failed: 0, refused: 0 }, last: null };
}

async function toldOf(controlDir: string, clock: Clock): Promise<Map<string, Told>> {
  const told = new Map<string, Told>();
  const { sinceMs, tails } = await logBounds(controlDir);
  const filter = { types: new Set<string>(EVENTS), sinceMs };
  const tailBytes = (name: string) => tails.get(name);
  const dir = eventsDir(controlDir);
  // What is wrong with the log is told by the list of the other hooks.
  for await (const { event } of readAudit({ dir, filter, clock, onProblem: () => {}, tailBytes })) {
    const { hook, error, reason, changed } = event.data;
    if (typeof hook !== "string") continue;
    const of = told.get(hook) ?? nothing();
    told.set(hook, of);
    const { type, timestamp } = event;
    const last = (text: string) => of.last = { timestamp, event: type, text };
    if (type === "hooks.decided") {
      of.counts.decided++;
      last(`changed ${Array.isArray(changed) ? changed.join(", ") : ""}`);
    } else if (type === "hooks.failed") {
      of.counts.failed++;
      last(`failed: ${String(error)}`);
    } else {
      of.counts.refused++;
      last(`refused${typeof reason === "string" ? `: ${reason}` : ""}`);
    }
  }
  return told;
}

/** What keeps the declaration that is in force from being loaded; nothing of it is imported or contacted. */
export function checkDecisions({ place, deps }: DecisionSetup): readonly Finding[] {
  return place === undefined ? [] : checkDeclaration(place, deps);
}

/** What the control folder's own declaration has to be trusted for, also while another one is in force. */
export function projectDecisions(
  controlDir: string,
): { claims: readonly JudgedClaim[]; findings: readonly Finding[] } {
  const home = homeFolder(controlDir);
  const place = findConfig({ controlDir, home });
  if (place === undefined || place.word === "operator") return { claims: [], findings: [] };
  const read = readDeclaration(place.path, { ...place, home });
  if (!read.ok) return { claims: [], findings: read.findings };
  const judged = judgedClaims(place, read.declaration, trustOf(controlDir).trust.judge);
  return { claims: judged.map(({ claim }) => claim), findings: [] };
}
