import process from "node:process";
import { systemClock } from "../clock/clock.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { type Finding, formatFinding, isError } from "../errors/finding.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { checkDecisions } from "../runtime/decision_overview.ts";
import { type DecisionSetup, decisionSetup } from "../runtime/decisions.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";

/** `reyn check`: all findings of all layers, and of the declaration of decision hooks, at once; exit 1 when one of them is an error. */
export async function checkVerb(globals: GlobalOptions): Promise<number> {
  const dir = controlDir(globals.dir);
  const loaded = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const decisions = decisionSetup(dir, globals.config, systemClock);
  const findings = [...loaded.findings, ...checkDecisions(decisions)];
  const layers = [...loaded.layers, ...decisionLayer(decisions, findings)];
  const errors = findings.filter(isError).length;
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ ok: errors === 0, findings, layers })}\n`);
  } else {
    for (const finding of findings) process.stdout.write(`${formatFinding(finding)}\n`);
    if (!globals.quiet) process.stderr.write(`${summary(errors, findings.length - errors)}\n`);
  }
  return errors > 0 ? EXIT.refused : EXIT.ok;
}

function decisionLayer({ place }: DecisionSetup, findings: readonly Finding[]) {
  if (place === undefined) return [];
  const isRefused = findings.some((one) => isError(one) && one.place?.file === place.shown);
  return [{ layer: "decisions", file: place.shown, state: isRefused ? "refused" : "used" }];
}

function summary(errors: number, warnings: number): string {
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
  if (errors === 0 && warnings === 0) return "ok";
  return `${count(errors, "error")}, ${count(warnings, "warning")}`;
}
