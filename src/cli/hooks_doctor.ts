import process from "node:process";
import { type Examined, examineHooks } from "../decisions/examine.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { decisionSetup } from "../runtime/decisions.ts";
import { controlDir } from "./control_dir.ts";
import { print } from "./decision_data.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { leaveAtEnd } from "./leave.ts";

/** `reyn hooks doctor`: loads every decision hook and asks the services how they are. Exit 1 when one cannot be asked. */
export async function hooksDoctorVerb(globals: GlobalOptions, host: Host): Promise<number> {
  const { place, deps } = decisionSetup(controlDir(globals.dir), globals.config, host.clock);
  leaveAtEnd();
  const hooks = await examineHooks(place, deps);
  print(globals.json, { config: place?.shown ?? null, hooks }, hooks.flatMap(linesOf));
  if (hooks.length === 0 && !globals.quiet) process.stderr.write("no decision hooks\n");
  return hooks.every(({ ok }) => ok) ? EXIT.ok : EXIT.refused;
}

function linesOf({ hook, kind, target, ok, problem, points, notes }: Examined): string[] {
  const at = points && points.length > 0 ? `  at ${points.join(", ")}` : "";
  const head = `${hook}  ${kind} ${target}  ${ok ? "ok" : `FAILED: ${problem}`}${at}`;
  return [head, ...notes.map((note) => `  ${note}`)].map(escapeVisible);
}
