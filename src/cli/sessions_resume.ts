import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { resumeSession } from "../runtime/resume_session.ts";
import { connectServer, sessionPath } from "../server/client.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";

/** `reyn sessions resume ID`: ends the suspension that a failed hook with `on_error: suspend` began. */
export async function resumeSessionVerb(globals: GlobalOptions, text: string, host: Host): Promise<number> {
  const id = text.includes("/") ? text : `${globals.agent}/${text}`;
  const dir = controlDir(globals.dir);
  const client = await connectServer(dir, host.ioClock);
  const was = client
    ? (await client.post(sessionPath(id, "/resume")) as { suspended_by: string | null }).suspended_by
    : (await resumeSession(dir, id, host)).was;
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ id, resumed: was !== null, suspended_by: was })}\n`);
  } else if (!globals.quiet) {
    const how = client ? ` (through reyn serve, pid ${client.pid})` : "";
    process.stderr.write(`${id} ${was === null ? "is not suspended" : "takes turns again"}${how}\n`);
  }
  return EXIT.ok;
}
