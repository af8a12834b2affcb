import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { resumeSession } from "../runtime/resume_session.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";

/** `reyn sessions resume ID`: ends the suspension that a failed hook with `on_error: suspend` began. */
export async function resumeSessionVerb(globals: GlobalOptions, text: string, host: Host): Promise<number> {
  const id = text.includes("/") ? text : `${globals.agent}/${text}`;
  const { was } = await resumeSession(controlDir(globals.dir), id, host);
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ id, resumed: was !== null, suspended_by: was })}\n`);
  } else if (!globals.quiet) {
    process.stderr.write(was === null ? `${id} is not suspended\n` : `${id} takes turns again\n`);
  }
  return EXIT.ok;
}
