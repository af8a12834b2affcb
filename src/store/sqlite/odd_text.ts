/**
 * Ids, kinds and owners are kept as SQLite text, which can hold neither a lone surrogate nor, on every runtime, a NUL.
 * Those, and the mark itself, are written as the mark and four hex digits, so that every string comes back equal.
 */
const MARK = "\uf8ff";
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const WRITTEN = /\uf8ff([0-9a-f]{4})/g;

export function toText(value: string): string {
  if (value.isWellFormed() && !value.includes("\0") && !value.includes(MARK)) return value;
  return value.replaceAll(MARK, written(MARK)).replaceAll("\0", written("\0")).replace(LONE, written);
}

export function fromText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(WRITTEN, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function written(unit: string): string {
  return MARK + unit.charCodeAt(0).toString(16).padStart(4, "0");
}
