import { Buffer } from "node:buffer";
import { writeSync } from "node:fs";
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
  const write = stdoutWriter();
  keepStdoutClean();
  // Left to itself, a runtime may go on after what nobody caught.
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error: unknown) => {
      process.stderr.write(`${failureText(error)}\n`);
      process.exit(1);
    });
  }
  let nonce = "";
  const send = (line: HostLine) => write(`${nonce}${JSON.stringify(line)}\n`);
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

/** Writes at once, which takes less time than the stream does; what a full pipe does not take at once is left to the stream. */
function stdoutWriter(): (text: string) => void {
  const write = process.stdout.write.bind(process.stdout);
  let streaming = false;
  return (text) => {
    const bytes = Buffer.from(text);
    let done = 0;
    while (!streaming && done < bytes.length) {
      try {
        done += writeSync(1, bytes, done);
      } catch (error) {
        // EPIPE too: nobody reads any more, and the end of stdin ends this process.
        streaming = error instanceof Error;
      }
    }
    if (done < bytes.length) write(bytes.subarray(done));
  };
}

/** What the hook prints goes to stderr. */
function keepStdoutClean(): void {
  console.log = console.info = console.debug = console.error;
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}
