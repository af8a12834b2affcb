import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { count, describeValue, isMap, list, mapOf, optional, record, type Shape, text } from "./shape.ts";

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Seconds as a number, or `<N>ms|s|m|h`; read as milliseconds. */
export const duration: Shape<number> = (value, path, context) => {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value * 1000;
  const parts = typeof value === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value) : null;
  if (parts) return Number(parts[1]) * (UNITS[parts[2] ?? ""] ?? 0);
  context.report(path, `a duration like 200ms, 5s or 2m is expected, not ${describeValue(value)}`);
  return 0;
};

/** A file mode in octal, quoted: "0600". */
export const mode: Shape<number> = (value, path, context) => {
  if (typeof value === "string" && /^0?[0-7]{3,4}$/.test(value)) return parseInt(value, 8);
  context.report(path, `a mode like "0600" (in quotes) is expected, not ${describeValue(value)}`);
  return 0;
};

/** A regular expression that cannot take for ever: no repetition within a repetition, no back-reference. */
export const pattern: Shape<RegExp> = (value, path, context) => {
  const source = text(value, path, context);
  if (typeof source !== "string") return /$^/;
  try {
    const compiled = new RegExp(source, "mu");
    if (/\\[1-9]|\\k</.test(source)) context.report(path, "a regex may not refer back to a group");
    if (hasNestedRepetition(source)) context.report(path, "a regex may not repeat what is itself repeated");
    return compiled;
  } catch (error) {
    context.report(
      path,
      `not a regular expression: ${error instanceof Error ? error.message : String(error)}`,
    );
    return /$^/;
  }
};

function hasNestedRepetition(source: string): boolean {
  const plain = source.replace(/\\./g, "_").replace(/\[(?:[^\]])*\]/g, "_");
  const groups: boolean[] = [];
  let inner = false;
  for (let at = 0; at < plain.length; at++) {
    const char = plain[at] ?? "";
    if (char === "(") {
      groups.push(inner);
      inner = false;
    } else if (char === ")") {
      const repeats = /^(?:[*+]|\{\d+,)/.test(plain.slice(at + 1));
      if (repeats && inner) return true;
      inner = (groups.pop() ?? false) || inner || repeats;
    } else if (/^(?:[*+]|\{\d+,)/.test(plain.slice(at))) inner = true;
  }
  return false;
}

const CONTENT_KEYS = {
  text: optional(text),
  base64: optional(text),
  hex: optional(text),
  repeat: optional(record({ text, times: count })),
  from: optional(text),
};

const contentMap = record(CONTENT_KEYS);

/** Bytes: a text as it is, or exactly one of text, base64, hex, repeat, from (a file in the folder of the case). */
export type Content = string | ReturnType<typeof contentMap>;

export const content: Shape<Content> = (value, path, context) => {
  if (typeof value === "string") return value;
  if (!isMap(value)) {
    context.report(path, `a text or a map is expected, not ${describeValue(value)}`);
    return "";
  }
  const keys = Object.keys(value).filter((key) => key in CONTENT_KEYS);
  if (keys.length !== 1) {
    context.report(path, `exactly one of ${Object.keys(CONTENT_KEYS).join(", ")} is expected`);
  }
  return contentMap(value, path, context);
};

export async function contentBytes(given: Content, caseFolder: string): Promise<Buffer> {
  if (typeof given === "string") return Buffer.from(given, "utf8");
  if (given.base64 !== undefined) return Buffer.from(given.base64, "base64");
  if (given.hex !== undefined) return Buffer.from(given.hex.replace(/\s+/g, ""), "hex");
  if (given.repeat) return Buffer.from(given.repeat.text.repeat(given.repeat.times), "utf8");
  if (given.from !== undefined) return await readFile(join(caseFolder, given.from));
  return Buffer.from(given.text ?? "", "utf8");
}

const fileMap = record({
  ...CONTENT_KEYS,
  content: optional(text),
  mode: optional(mode),
  symlink: optional(text),
  folder: optional(
    mapOf((value, path, context) => context.report(path, `unexpected ${describeValue(value)}`)),
  ),
});

/** What a case puts somewhere: content with a mode, a symbolic link, or (`folder: {}`) an empty folder. */
export type FileSpec = ReturnType<typeof fileMap>;

export const fileSpec: Shape<FileSpec> = (value, path, context) => {
  if (typeof value === "string") return { text: value };
  const file = fileMap(value, path, context);
  if (!isMap(value)) return {};
  const { content: alias, ...rest } = file;
  const kinds = Object.keys(value).filter((key) => key !== "mode");
  if (kinds.length !== 1) {
    context.report(path, "exactly one of content, base64, hex, repeat, from, symlink, folder is expected");
  }
  return alias === undefined ? rest : { ...rest, text: alias };
};

export const texts: Shape<string[]> = (value, path, context) =>
  typeof value === "string" ? [value] : list(text, 1)(value, path, context);
