import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { type Clock, sleep } from "../clock/clock.ts";

/** What is needed of a readable stream, such as stdin. */
export type LineInput = Pick<Readable, "on" | "off" | "resume" | "pause" | "readableEnded">;

/** Longest line that is read: a longer one counts as empty. */
const MOST_BYTES = 4096;

/**
 * Reads one line and leaves the stream paused. What comes behind the line in the same piece is dropped: it was typed before
 * anything else was asked. Undefined at the end of input, or when the signal aborts.
 */
export function readLine(input: LineInput, over: AbortSignal): Promise<string | undefined> {
  if (over.aborted || input.readableEnded) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let read = Buffer.alloc(0);
    let overlong = false;
    const done = (line: string | undefined) => {
      input.off("data", onData);
      for (const event of ["end", "close", "error"]) input.off(event, onEnd);
      over.removeEventListener("abort", onEnd);
      input.pause();
      resolve(line);
    };
    const onData = (chunk: Uint8Array | string) => {
      const bytes = Buffer.from(chunk as Uint8Array);
      const end = bytes.indexOf(0x0a);
      const room = MOST_BYTES - read.length;
      const rest = end === -1 ? bytes.length : end;
      if (rest > room) overlong = true;
      read = Buffer.concat([read, bytes.subarray(0, Math.min(rest, room))]);
      if (end !== -1) done(overlong ? "" : read.toString("utf8"));
    };
    const onEnd = () => done(undefined);
    input.on("data", onData);
    input.on("end", onEnd);
    input.on("close", onEnd);
    input.on("error", onEnd);
    over.addEventListener("abort", onEnd, { once: true });
    input.resume();
  });
}

/** What was typed before a question stood there is no answer to it; it arrives within this time. */
const TYPED_AHEAD_MS = 60;

/** Reads and drops what was typed so far; `ended` where the input is at its end. */
export async function dropTypedAhead(
  input: LineInput,
  clock: Clock,
  over: AbortSignal,
): Promise<"ended" | "emptied"> {
  const late = new AbortController();
  const emptied = drain(input, late.signal);
  await sleep(clock, TYPED_AHEAD_MS, over);
  late.abort();
  return await emptied;
}

async function drain(input: LineInput, over: AbortSignal): Promise<"ended" | "emptied"> {
  while (!over.aborted) {
    if (await readLine(input, over) === undefined) return over.aborted ? "emptied" : "ended";
  }
  return "emptied";
}
