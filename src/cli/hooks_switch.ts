import process from "node:process";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { switchHook } from "../runtime/switch_hook.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";

/** `reyn hooks enable|disable NAME`: for one session, from its next start on. */
export async function switchHookVerb(
  globals: GlobalOptions,
  name: string,
  on: boolean,
  host: Host,
): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const { file, changed } = await switchHook({
    configuration,
    controlDir: dir,
    name,
    on,
    unique: host.ids.next(),
  });
  const session = `${globals.agent}/${globals.session}`;
  const state = on ? "enabled" : "disabled";
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ hook: name, session, state, changed, file })}\n`);
  } else if (!globals.quiet) {
    const what = changed
      ? `is ${state} in ${session} from its next start on`
      : `was ${state} in ${session} already`;
    process.stderr.write(`${escapeVisible(name)} ${what} (${file})\n`);
  }
  return EXIT.ok;
}
