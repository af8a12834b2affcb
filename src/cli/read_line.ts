import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";

/** What is needed of a readable stream, such as stdin. */
export type LineInput = Pick<Readable, "on" | "off" | "resume" | "pause" | "readableEnded">;

/** Longest line that is read; the rest of it is dropped. */
const MOST_BYTES = 4096;

/**
 * Reads one line and leaves the stream paused. What comes behind the line in the same piece is dropped: it was typed before
 * anything else was asked. Undefined at the end of input, or when the signal aborts.
 */
export function readLine(input: LineInput, over: AbortSignal): Promise<string | undefined> {
  if (over.aborted || input.readableEnded) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let read = Buffer.alloc(0);
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
      read = Buffer.concat([read, bytes.subarray(0, end === -1 ? room : Math.min(end, room))]);
      if (end !== -1) done(read.toString("utf8"));
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
