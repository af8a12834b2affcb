import process from "node:process";
import { systemClock } from "../../clock/clock.ts";
import { type ContextFields, makeContext } from "../../points/contexts.ts";
import type { DecisionPoint } from "../../points/decision_shapes.ts";
import { ask } from "../ask.ts";
import type { Executor } from "../executor.ts";
import { failureText } from "../failure.ts";
import { loadLocal } from "../load_local.ts";
import { type HostCall, type HostLine, type HostStart, lineReader } from "./protocol.ts";

/** Serves one hook to the process that started this one, line by line, until its end. */
export async function serveHook(): Promise<void> {
  const write = process.stdout.write.bind(process.stdout);
  keepStdoutClean();
  // Left to itself, a runtime may go on after what nobody caught.
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error: unknown) => {
      process.stderr.write(`${failureText(error)}\n`);
      process.exit(1);
    });
  }
  let nonce = "";
  const send = (line: HostLine) => void write(`${nonce}${JSON.stringify(line)}\n`);
  let executor: Executor | undefined;

  async function start(first: HostStart): Promise<void> {
    nonce = first.nonce;
    const loaded = await loadLocal(first.target, first.folder);
    if (loaded.ok) executor = loaded.executor;
    send(loaded.ok ? { loaded: true, points: [...loaded.points] } : { loaded: false, reason: loaded.reason });
  }

  async function answer<P extends DecisionPoint>(
    { call, point, context, id }: HostCall & { point: P },
  ): Promise<void> {
    if (!executor) return send({ call, ok: false, error: "the hook is not loaded" });
    const own = makeContext(point, context as ContextFields<P>);
    // The parent keeps the time, and ends this process when it is over.
    const answered = await ask(executor, { point, context: own, id, limitMs: 2 ** 31 }, systemClock);
    send({ call, ...answered });
  }

  let started = false;
  const read = lineReader((line) => {
    const message: unknown = JSON.parse(line);
    if (started) return void answer(message as HostCall);
    started = true;
    void start(message as HostStart);
  }, () => process.exit(1));
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => read(chunk));
  await new Promise<void>((resolve) => process.stdin.on("end", () => resolve()));
  process.exit(0);
}

/** What the hook prints goes to stderr. */
function keepStdoutClean(): void {
  console.log = console.info = console.debug = console.error;
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}
