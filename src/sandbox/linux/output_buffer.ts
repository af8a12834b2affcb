import { Buffer } from "node:buffer";

/** Keeps the first `limit` bytes. */
export function headBuffer(limit: number) {
  const chunks: Uint8Array[] = [];
  let kept = 0;
  let total = 0;
  return {
    add(chunk: Uint8Array): void {
      total += chunk.length;
      if (kept >= limit) return;
      // A copy: the chunk may be a view into a much larger piece of memory.
      const part = Uint8Array.from(chunk.subarray(0, limit - kept));
      chunks.push(part);
      kept += part.length;
    },
    overflowed: (): boolean => total > limit,
    bytes: (): Uint8Array => Buffer.concat(chunks),
  };
}

/** Keeps the last `limit` bytes, as text that begins with a whole character. */
export function tailBuffer(limit: number) {
  let tail: Buffer = Buffer.alloc(0);
  let cut = false;
  return {
    add(chunk: Uint8Array): void {
      const all = Buffer.concat([tail, chunk]);
      cut ||= all.length > limit;
      tail = Buffer.from(all.subarray(Math.max(0, all.length - limit)));
    },
    text(): string {
      let start = 0;
      // Continuation bytes belong to a character whose beginning is gone.
      while (cut && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return tail.subarray(start).toString("utf8");
    },
  };
}
