import { showSize } from "../config/scalars.ts";

export interface ReplyText {
  /** Takes the next bytes and gives the text that they complete. */
  add(chunk: Uint8Array): ReplyPart;
  /** Ends the reply and gives the rest of its text. */
  end(): ReplyPart;
}

export type ReplyPart = { ok: true; text: string } | { ok: false; problem: string };

/**
 * Reads a reply from bytes as they come: strict UTF-8, no NUL, at most `limit` bytes, not empty, one newline at
 * its very end left out. After a problem nothing more may be added.
 */
export function replyText(limit: number): ReplyText {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let bytes = 0;
  let empty = true;
  /** A newline that is part of the reply only if more follows. */
  let held = "";

  const decode = (chunk?: Uint8Array): ReplyPart => {
    try {
      const text = chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
      return text.includes("\0") ? { ok: false, problem: "its reply holds a NUL byte" } : { ok: true, text };
    } catch {
      return { ok: false, problem: "its reply is not UTF-8" };
    }
  };
  const part = (text: string): ReplyPart => {
    if (text !== "") empty = false;
    return { ok: true, text };
  };

  return {
    add(chunk) {
      bytes += chunk.length;
      if (bytes > limit) {
        return { ok: false, problem: `its reply is longer than ${showSize(limit)} (output_limit)` };
      }
      const decoded = decode(chunk);
      if (!decoded.ok) return decoded;
      const text = held + decoded.text;
      held = /(?:\r?\n|\r)$/.exec(text)?.[0] ?? "";
      return part(text.slice(0, text.length - held.length));
    },
    end() {
      const decoded = decode();
      if (!decoded.ok) return decoded;
      const last = part(held.endsWith("\n") ? "" : held);
      return empty ? { ok: false, problem: "its reply is empty" } : last;
    },
  };
}
