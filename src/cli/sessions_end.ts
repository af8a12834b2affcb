import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { connectServer, sessionPath } from "../server/client.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";

/** `reyn sessions end ID`: `session_end` fires, and the session is not open any more. */
export async function endSessionVerb(globals: GlobalOptions, text: string, host: Host): Promise<number> {
  const id = text.includes("/") ? text : `${globals.agent}/${text}`;
  const dir = controlDir(globals.dir);
  const client = await connectServer(dir, host.ioClock);
  if (!client) {
    throw new ReynError("E_SERVER_NONE", "no server runs here", {
      fix: "`reyn run` ends its session by itself",
    });
  }
  const ended = await client.post(sessionPath(id, "/end")) as { id: string; ended: boolean; waiting: number };
  if (globals.json) process.stdout.write(`${JSON.stringify(ended)}\n`);
  if (globals.quiet) return EXIT.ok;
  const waiting = ended.waiting === 0 ? "" : `; ${ended.waiting} messages wait for its next opening`;
  process.stderr.write(`${id} has ended (through reyn serve, pid ${client.pid})${waiting}\n`);
  return EXIT.ok;
}
