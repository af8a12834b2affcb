import process from "node:process";
import { openAudit } from "../audit/writer.ts";
import { type AskedHook, decisionsOf } from "../decisions/chain.ts";
import { planDecision, type PlannedHook } from "../decisions/plan_decision.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import type { DecisionContext, DecisionPoint } from "../points/decision_shapes.ts";
import { type DecisionSetup, decisionSetup, oneShotDecisions } from "../runtime/decisions.ts";
import { eventsDir } from "../runtime/places.ts";
import { controlDir } from "./control_dir.ts";
import { contextOf, print } from "./decision_data.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { leaveAtEnd } from "./leave.ts";

export interface FireDecisionOptions {
  globals: GlobalOptions;
  point: DecisionPoint;
  /** JSON, or `@file`. */
  data: unknown;
  run: boolean;
}

/**
 * `reyn hooks fire POINT` for a decision point: which hooks would be asked, or with `--run` what they answer and what comes of
 * it. A run goes on without hooks when they cannot be loaded, as every command that does one thing.
 */
export async function fireDecisionVerb(options: FireDecisionOptions, host: Host): Promise<number> {
  const { globals, point, data, run } = options;
  const dir = controlDir(globals.dir);
  const context = contextOf(point, data);
  const setup = decisionSetup(dir, globals.config, host.clock);
  if (!run || !globals.hooks) {
    const hooks = globals.hooks ? planDecision(setup.place, setup.deps, point, context) : [];
    print(globals.json, { point, context, hooks }, hooks.map(planned));
    if (hooks.length === 0 && !globals.quiet) process.stderr.write(`no decision hook is at ${point}\n`);
    return EXIT.ok;
  }
  leaveAtEnd();
  const outcome = await runChainOnce(setup, dir, point, context, globals, host);
  print(globals.json, outcome, [
    ...outcome.asked.map(answered),
    ...Object.entries(outcome.final).map(([name, value]) => escapeVisible(`${name}: ${String(value)}`)),
  ]);
  return EXIT.ok;
}

async function runChainOnce<P extends DecisionPoint>(
  setup: DecisionSetup,
  dir: string,
  point: P,
  context: DecisionContext<P>,
  { quiet }: GlobalOptions,
  { clock, ioClock, ids }: Host,
) {
  const talk = (line: string) => void (quiet || process.stderr.write(line));
  const onProblem = (problem: Parameters<typeof formatFinding>[0]) => talk(`${formatFinding(problem)}\n`);
  const audit = openAudit({ dir: eventsDir(dir), clock: ioClock, ids, pid: process.pid, onProblem });
  const hooks = oneShotDecisions(setup, { audit, clock, ids, talk });
  try {
    const { decisions, refusedBy, id, asked } = await hooks.decide(point, context);
    const final = id === null ? decisionsOf(point, context) : decisions;
    return { point, asked, final, refused_by: refusedBy, decision_id: id };
  } finally {
    await hooks.close();
    await audit.close();
  }
}

function planned({ hook, verdict, field }: PlannedHook): string {
  return escapeVisible(`${hook}  ${verdict}${field === undefined ? "" : ` (${field})`}`);
}

function answered({ hook, skipped, error, changed, overruled, mode, duration_ms }: AskedHook): string {
  const what = skipped !== undefined
    ? "not concerned"
    : error !== undefined
    ? `failed: ${error}`
    : changed.length === 0
    ? "changed nothing"
    : `${mode === "observe" ? "would have changed" : "changed"} ${changed.join(", ")}`;
  const over = overruled ? `; overruled: ${overruled.join(", ")}` : "";
  return escapeVisible(`${hook}  ${what}${over}  (${duration_ms} ms)`);
}
