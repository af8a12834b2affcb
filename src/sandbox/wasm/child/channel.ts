import { readSync, writeSync } from "node:fs";
import { encodeFrame, type Frame, type FrameKind, PREFIX_BYTES, readPrefix, readRest } from "../frames.ts";

/** The pipe to reyn, read and written one frame at a time, and waited for: nothing else happens in a plugin's process meanwhile. */
export interface Channel {
  /** Undefined when reyn has gone, or what came is no frame. */
  read(): Frame | undefined;
  /** False when nobody takes it any more. */
  write(kind: FrameKind, head: unknown, body?: Uint8Array): boolean;
}

const STDIN = 0;
const STDOUT = 1;
/** What reyn sends is larger than any module or input. */
const MOST_FRAME_BYTES = 64 * 1024 * 1024;
const RETRY_MS = 1;

export function openChannel(): Channel {
  const prefix = new Uint8Array(PREFIX_BYTES);
  return {
    read() {
      if (!fill(prefix)) return undefined;
      const found = readPrefix(prefix, 0, MOST_FRAME_BYTES);
      if (!found) return undefined;
      const rest = new Uint8Array(found.rest - 1);
      return fill(rest) ? readRest(found.kind, rest) : undefined;
    },
    write(kind, head, body) {
      const frame = encodeFrame(kind, head, body);
      for (let at = 0; at < frame.length;) {
        const written = patiently(() => writeSync(STDOUT, frame, at, frame.length - at));
        if (written === undefined) return false;
        at += written;
      }
      return true;
    },
  };
}

function fill(buffer: Uint8Array): boolean {
  for (let at = 0; at < buffer.length;) {
    const got = patiently(() => readSync(STDIN, buffer, at, buffer.length - at, null));
    if (got === undefined || got === 0) return false;
    at += got;
  }
  return true;
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
