import { Buffer } from "node:buffer";
import { writeSync } from "node:fs";
import process from "node:process";
import { inheritedSocket } from "../../adapter/inherited_socket.ts";
import { systemClock } from "../../clock/clock.ts";
import { type ContextFields, makeContext } from "../../points/contexts.ts";
import type { DecisionPoint } from "../../points/decision_shapes.ts";
import { ask } from "../ask.ts";
import type { Executor } from "../executor.ts";
import { failureText } from "../failure.ts";
import { loadLocal } from "../load_local.ts";
import { CHANNEL_FD, type HostCall, type HostLine, type HostStart, lineReader } from "./protocol.ts";

/** Serves one hook to the process that started this one, line by line, until its end. */
export async function serveHook(): Promise<void> {
  // Left to itself, a runtime may go on after what nobody caught.
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error: unknown) => {
      process.stderr.write(`${failureText(error)}\n`);
      process.exit(1);
    });
  }
  const channel = inheritedSocket(CHANNEL_FD);
  let nonce = "";
  const send = (line: HostLine) => void channel.write(`${nonce}${JSON.stringify(line)}\n`);
  let executor: Executor | undefined;

  async function start(first: HostStart): Promise<void> {
    nonce = first.nonce;
    const loaded = await loadLocal(first.target, first.folder);
    if (loaded.ok) executor = loaded.executor;
    send(loaded.ok ? { loaded: true, points: [...loaded.points] } : { loaded: false, reason: loaded.reason });
  }

  /** Said before the hook's code runs, which may never let go of this process again. */
  function sayBegun(call: number): void {
    const line: HostLine = { begun: call };
    // Not before what is still to be written.
    if (channel.writableLength > 0) return send(line);
    try {
      writeSync(CHANNEL_FD, Buffer.from(`${nonce}${JSON.stringify(line)}\n`));
    } catch {
      send(line);
    }
  }

  async function answer<P extends DecisionPoint>(
    { call, point, context, id, behind }: HostCall & { point: P },
  ): Promise<void> {
    if (behind) sayBegun(call);
    if (!executor) return send({ call, ok: false, error: "the hook is not loaded" });
    const own = makeContext(point, context as ContextFields<P>);
    // The parent keeps the time, and ends this process when it is over.
    const answered = await ask(executor, { point, context: own, id, limitMs: 2 ** 31 }, systemClock);
    send({ call, ...answered });
  }

  let started = false;
  const take = (line: string) => {
    const message: unknown = JSON.parse(line);
    if (started) return void answer(message as HostCall);
    started = true;
    void start(message as HostStart);
  };
  // One at a time, so that an answer is on its way before the next question begins.
  const waiting: string[] = [];
  let scheduled = false;
  const takeNext = () => {
    const line = waiting.shift();
    scheduled = waiting.length > 0;
    if (scheduled) setImmediate(takeNext);
    if (line !== undefined) take(line);
  };
  const read = lineReader((line) => waiting.push(line), () => process.exit(1));
  channel.setEncoding("utf8");
  channel.on("data", (chunk: string) => {
    read(chunk);
    if (!scheduled) takeNext();
  });
  await new Promise<void>((resolve) => {
    for (const event of ["end", "error", "close"]) channel.on(event, () => resolve());
  });
  process.exit(0);
}
