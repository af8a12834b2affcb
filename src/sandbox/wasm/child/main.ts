import process from "node:process";
import { isatty } from "node:tty";
import { dropPermissions } from "../../../adapter/drop_permissions.ts";
import { encodeFrame, GREETING, KIND, PROTOCOL } from "../frames.ts";
import type { AnswerHead, CallHead } from "../protocol.ts";
import { encodeResult } from "../result_frame.ts";
import { type Channel, openChannel } from "./channel.ts";
import { openPlugins, type Plugins } from "./run_call.ts";
import { loadSdk } from "./sdk.ts";

const USAGE = 2;
const STDIN = 0;

/**
 * What a plugin's process does: takes calls from reyn on stdin and answers on stdout, until stdin ends. Only reyn speaks this; whoever
 * else starts it is told so. Gives the exit code.
 */
export async function servePlugins(): Promise<number> {
  const channel = openChannel();
  const first = isatty(STDIN) ? undefined : channel.read();
  const greeting = first?.kind === KIND.hello ? readGreeting(first.head) : undefined;
  if (!greeting) {
    process.stderr.write("E_USAGE only reyn itself starts this, to run plugins in\n");
    return USAGE;
  }
  const plugins = openPlugins(await loadSdk());
  dropPermissions({ keepFiles: greeting.files });
  channel.write(encodeFrame(KIND.hello, { greeting: GREETING, protocol: PROTOCOL, pid: process.pid }));
  for (;;) {
    const frame = channel.read();
    if (!frame) return 0;
    switch (frame.kind) {
      case KIND.module:
        plugins.keep(hashIn(frame.head), frame.body);
        break;
      case KIND.forget:
        plugins.forget(hashIn(frame.head));
        break;
      case KIND.call:
        // What reyn sends is reyn's own.
        await answerCall(channel, plugins, JSON.parse(frame.head) as CallHead, frame.body);
        break;
      default:
        return USAGE;
    }
  }
}

async function answerCall(
  channel: Channel,
  plugins: Plugins,
  head: CallHead,
  input: Uint8Array,
): Promise<void> {
  const done = await plugins.run(head, input, (question, body) => {
    channel.write(encodeFrame(KIND.ask, question, ...(body ? [body] : [])));
    const frame = channel.read();
    // reyn has gone, and so do we.
    if (frame?.kind !== KIND.answer) process.exit(0);
    return { head: JSON.parse(frame.head) as AnswerHead, body: frame.body };
  });
  channel.write(encodeResult(done.head, done.output));
}

function readGreeting(text: string): { files: boolean } | undefined {
  try {
    const { greeting, protocol, files } = JSON.parse(text) as Record<string, unknown>;
    return greeting === GREETING && protocol === PROTOCOL && typeof files === "boolean"
      ? { files }
      : undefined;
  } catch {
    return undefined;
  }
}

function hashIn(text: string): string {
  return String((JSON.parse(text) as Record<string, unknown>)["hash"]);
}
