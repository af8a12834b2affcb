import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { quote } from "../errors/quote.ts";
import { requireStart } from "../runtime/audit_trust.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { openBare } from "../runtime/open_bare.ts";
import { connectServer, sessionPath } from "../server/client.ts";
import { humanMessage, keyedMessage } from "../session/messages.ts";
import { putMessage } from "../session/put_message.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { readMessage } from "./read_message.ts";

export interface SendOptions {
  globals: GlobalOptions;
  message: string | undefined;
  file: string | undefined;
  key: string | undefined;
  passive: boolean;
}

interface Sent {
  id: string;
  session: string;
  status: "stored" | "duplicate";
}

const KEY = /^[\x21-\x7e]{1,200}$/;

/** `reyn send`: puts a message in an inbox, durably, through the server or, where none runs, in the store. */
export async function sendVerb(
  { globals, message, file, key, passive }: SendOptions,
  host: Host,
): Promise<number> {
  const dir = controlDir(globals.dir);
  if (key !== undefined && !KEY.test(key)) {
    throw new ReynError(
      "E_USAGE",
      `--key: ${quote(key)} is not 1 to 200 visible ASCII characters without spaces`,
      {
        exitCode: EXIT.usage,
      },
    );
  }
  const text = await readMessage(message, file);
  if (text === undefined) {
    throw new ReynError("E_USAGE", "there is no message", {
      fix: "`reyn send MESSAGE`, `reyn send --file FILE` or `reyn send -`",
      exitCode: EXIT.usage,
    });
  }
  const session = `${globals.agent}/${globals.session}`;
  const client = await connectServer(dir, host.ioClock);
  const sent = client
    ? await client.post(
      sessionPath(session, "/messages"),
      { text, wake: !passive },
      key === undefined ? {} : { "idempotency-key": key },
    ) as Sent
    : await storeAlone(dir, globals, text, key, passive, host);
  if (globals.json) process.stdout.write(`${JSON.stringify({ ...sent, server: client?.pid ?? null })}\n`);
  if (globals.quiet) return EXIT.ok;
  const what = sent.status === "duplicate"
    ? `${session} has the message already`
    : `${session} has the message`;
  const how = client
    ? `(through reyn serve, pid ${client.pid})`
    : "(in its inbox; no server runs, so it waits for the next `reyn run` or `reyn serve`)";
  process.stderr.write(`${what} ${how}\n`);
  return EXIT.ok;
}

async function storeAlone(
  controlDir: string,
  { agent, session: sid }: GlobalOptions,
  text: string,
  key: string | undefined,
  passive: boolean,
  host: Host,
): Promise<Sent> {
  const talk = (line: string) => void process.stderr.write(line);
  await requireStart(loadForSession({ controlDir, agent, sid }), { controlDir, host, talk });
  const bare = await openBare({ controlDir, verb: "send", host, talk });
  try {
    const session = `${agent}/${sid}`;
    // As over the control socket, so that a repetition is one whichever way it comes.
    const message = key === undefined
      ? { ...humanMessage(host.ids.next(), text), wake: !passive }
      : keyedMessage(`http:local:${key}`, text, !passive);
    return { id: message.id, session, status: await putMessage(session, message, bare.store, bare.audit) };
  } finally {
    await bare.close();
  }
}
