import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { connectServer, sessionPath } from "../server/client.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { timeline } from "./timeline.ts";

/** `reyn sessions end ID`: `session_end` fires, and the session is not open any more. */
export async function endSessionVerb(globals: GlobalOptions, text: string, host: Host): Promise<number> {
  const id = text.includes("/") ? text : `${globals.agent}/${text}`;
  const dir = controlDir(globals.dir);
  const client = await connectServer(dir, host.ioClock);
  if (!client) return await endAlone(globals, id, dir, host);
  const ended = await client.post(sessionPath(id, "/end")) as { id: string; ended: boolean; waiting: number };
  return tell(globals, ended, `through reyn serve, pid ${client.pid}`);
}

async function endAlone(globals: GlobalOptions, id: string, dir: string, host: Host): Promise<number> {
  const { endSession } = await import("../runtime/end_session.ts");
  const talk = (line: string) => {
    if (!globals.quiet) process.stderr.write(line);
  };
  const slash = id.indexOf("/");
  const { waiting } = await endSession({ agent: id.slice(0, slash), sid: id.slice(slash + 1) }, {
    controlDir: dir,
    host,
    hooks: globals.hooks,
    talk,
    observe: timeline({ data: talk, talk, width: 240 }),
  });
  return tell(globals, { id, ended: true, waiting }, "no server runs here");
}

function tell(
  globals: GlobalOptions,
  ended: { id: string; ended: boolean; waiting: number },
  how: string,
): number {
  if (globals.json) process.stdout.write(`${JSON.stringify(ended)}\n`);
  if (globals.quiet) return EXIT.ok;
  const waiting = ended.waiting === 0 ? "" : `; ${ended.waiting} messages wait for its next opening`;
  process.stderr.write(`${ended.id} has ended (${how})${waiting}\n`);
  return EXIT.ok;
}
