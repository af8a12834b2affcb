/** Keeps the last bytes of a stream however much of it there is. */
export interface OutputTail {
  add(chunk: Uint8Array): void;
  /** What is kept, as text; white space at both ends is left out, what is not UTF-8 is replaced. */
  text(): string;
}

export function outputTail(limit: number): OutputTail {
  let kept = new Uint8Array(0);
  return {
    add(chunk) {
      const last = chunk.subarray(Math.max(0, chunk.length - limit));
      const before = kept.subarray(Math.max(0, kept.length + last.length - limit));
      const joined = new Uint8Array(before.length + last.length);
      joined.set(before);
      joined.set(last, before.length);
      kept = joined;
    },
    text() {
      // The cut may have left the end of a character.
      let start = 0;
      while (start < 3 && ((kept[start] ?? 0) & 0xc0) === 0x80) start++;
      return new TextDecoder().decode(kept.subarray(start)).trim();
    },
  };
}
