// Control characters, line and paragraph separators, bidi marks, zero-width and other invisible characters, lone surrogates.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from outside made safe for a terminal and a log line: control, bidi and invisible characters are escaped. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (c) => {
    const hex = (c.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
  });
}

/** `"text"` for a message: quotes and backslashes escaped, unsafe characters escaped, cut after `max` characters. */
export function quote(text: string, max = 60): string {
  const short = text.length > max ? text.slice(0, max) : text;
  const escaped = short.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  return `"${escapeUnsafe(escaped)}${short.length < text.length ? "…" : ""}"`;
}
