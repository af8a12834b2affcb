import { readSync, writeSync } from "node:fs";
import { type Frame, PREFIX_BYTES, readPrefix, readRest } from "../frames.ts";

/** The pipe to reyn, read and written one frame at a time, and waited for: nothing else happens in a plugin's process meanwhile. */
export interface Channel {
  /** Undefined when reyn has gone, or what came is no frame. */
  read(): Frame | undefined;
  /** False when nobody takes it any more. */
  write(frame: Uint8Array): boolean;
}

const STDIN = 0;
const STDOUT = 1;
/** What reyn sends is larger than any module or input. */
const MOST_FRAME_BYTES = 64 * 1024 * 1024;
/** Read at a time: most frames come whole, with one call of the system. */
const CHUNK_BYTES = 64 * 1024;
const RETRY_MS = 1;

export function openChannel(): Channel {
  const chunk = new Uint8Array(CHUNK_BYTES);
  /** What of the chunk is not taken yet. */
  let from = 0;
  let end = 0;
  /** So many bytes as a part of the chunk, to be used before the next call; undefined when they do not come. */
  const take = (length: number): Uint8Array | undefined => {
    if (end - from < length) {
      chunk.copyWithin(0, from, end);
      end -= from;
      from = 0;
      while (end < length) {
        const got = patiently(() => readSync(STDIN, chunk, end, CHUNK_BYTES - end, null));
        if (got === undefined || got === 0) return undefined;
        end += got;
      }
    }
    from += length;
    return chunk.subarray(from - length, from);
  };
  /** The same for more than a chunk holds. */
  const takeLong = (length: number): Uint8Array | undefined => {
    const whole = new Uint8Array(length);
    const held = Math.min(end - from, length);
    whole.set(chunk.subarray(from, from + held));
    from += held;
    for (let at = held; at < length;) {
      const got = patiently(() => readSync(STDIN, whole, at, length - at, null));
      if (got === undefined || got === 0) return undefined;
      at += got;
    }
    return whole;
  };
  return {
    read() {
      const prefix = take(PREFIX_BYTES);
      const found = prefix && readPrefix(prefix, 0, MOST_FRAME_BYTES);
      if (!found) return undefined;
      const length = found.rest - 1;
      const rest = length > CHUNK_BYTES ? takeLong(length) : take(length);
      return rest && readRest(found.kind, rest);
    },
    write(frame) {
      for (let at = 0; at < frame.length;) {
        const written = patiently(() => writeSync(STDOUT, frame, at, frame.length - at));
        if (written === undefined) return false;
        at += written;
      }
      return true;
    },
  };
}

/** Undefined when the pipe is broken. One that does not block is asked again. */
function patiently(attempt: () => number): number | undefined {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
      if (code !== "EAGAIN" && code !== "EINTR") return undefined;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
