import { escapeVisible } from "./escape_visible.ts";

/** `"text"` for a message: quotes and backslashes escaped, unsafe characters made visible, cut after `max` characters. */
export function quote(text: string, max = 60): string {
  const short = text.length > max ? text.slice(0, max) : text;
  const escaped = short.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  return `"${escapeVisible(escaped)}${short.length < text.length ? "…" : ""}"`;
}
