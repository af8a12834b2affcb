import { attribute, item } from "./access.ts";
import { bounded, MAX_OUTPUT_BYTES, type Run, spend, spendChars, STEPS_PER_DIRECTIVE } from "./budget.ts";
import { formatNumber, grouped } from "./number_text.ts";
import { RenderFault } from "./problem.ts";
import { repr, toText } from "./python_text.ts";
import type { Rest } from "./signature.ts";
import { charCount, charSlice } from "./strings.ts";
import { isInteger, numberOf, refuseUndefined, typeName, type Value } from "./values.ts";

const PART = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g;
const MAX_PATH = 1000;
const SPEC = /^(?:([\s\S])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** Python's `format.format(…)`, without fields inside of format specifications. */
export function formatBraces(run: Run, format: string, args: Rest): string {
  spendChars(run, format);
  let automatic = 0;
  let length = 0;
  return format.replace(PART, (whole, field: string | undefined, conversion, spec: string | undefined) => {
    if (whole === "{{") return "{";
    if (whole === "}}") return "}";
    spend(run, STEPS_PER_DIRECTIVE);
    if (field === undefined) throw new RenderFault(`single '${whole}' in a format string`);
    const [, first = "", path = ""] = /^([^.[]*)([\s\S]*)$/.exec(field) ?? [];
    const key = first === "" ? String(automatic++) : first;
    const start = /^\d+$/.test(key) ? args.positional[Number(key)] : args.named.get(key);
    if (start === undefined) throw new RenderFault(`no argument "${key}" for a format string`);
    const value = follow(run, start, path);
    const text = conversion === undefined
      ? formatValue(run, value, spec ?? "")
      : pad(conversion === "s" ? toText(run, value) : repr(run, value), spec ?? "");
    length += text.length;
    if (length > MAX_OUTPUT_BYTES) throw new RenderFault("a text grows too long");
    return text;
  });
}

/** `.name` and `[key]` behind a field's first part. */
function follow(run: Run, start: Value, path: string): Value {
  if (path.length > MAX_PATH) throw new RenderFault("a field of a format string is too long");
  let value = start;
  let read = 0;
  for (const [whole, name, key] of path.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g)) {
    read += whole.length;
    value = name === undefined
      ? item(run, value, /^\d+$/.test(key ?? "") ? Number(key) : key)
      : attribute(run, value, name);
    refuseUndefined(value);
  }
  if (read !== path.length) throw new RenderFault("a field of a format string is malformed");
  return value;
}

function formatValue(run: Run, value: Value, spec: string): string {
  refuseUndefined(value);
  if (spec === "") return toText(run, value);
  if (typeof value === "string") return pad(value, spec);
  if (numberOf(value) === null) throw new RenderFault(`a format specification is not for ${typeName(value)}`);
  const match = SPEC.exec(spec);
  if (!match) throw new RenderFault(`invalid format specifier '${spec}'`);
  const [, fill, align, sign, alternate, zero, width, separator, precision, letter] = match;
  const places = precision === undefined ? null : bounded(Number(precision), "a precision");
  const plain = letter === undefined && places === null;
  if (isInteger(value) && places !== null && (letter === undefined || "dxXob".includes(letter))) {
    if (letter !== undefined) throw new RenderFault("precision not allowed in integer format specifier");
  }
  if (!isInteger(value) && letter !== undefined && "dxXobc".includes(letter)) {
    throw new RenderFault(`unknown format code '${letter}' for float`);
  }
  const kind = letter === "n" ? "g" : letter ?? "g";
  let text = plain && typeof value !== "boolean"
    ? toText(run, value)
    : formatNumber(value, plain ? "d" : kind, places, alternate !== undefined);
  if (text === null) throw new RenderFault(`unknown format code '${letter}'`);
  if (separator !== undefined) text = grouped(text, separator, "xXob".includes(letter ?? " ") ? 4 : 3);
  if (sign !== undefined && sign !== "-" && !text.startsWith("-")) text = sign + text;
  return align === undefined && zero !== undefined
    ? padded(text, "0", "=", width)
    : padded(text, fill ?? (zero ?? " "), align ?? ">", width);
}

function pad(text: string, spec: string): string {
  const match = SPEC.exec(spec);
  const [, fill, align, sign, alternate, zero, width, separator, precision, letter] = match ?? [];
  if (!match || sign || alternate || separator || align === "=" || (letter !== undefined && letter !== "s")) {
    throw new RenderFault(`invalid format specifier '${spec}' for a string`);
  }
  const cut = precision === undefined ? text : charSlice(text, 0, Number(precision));
  return padded(cut, fill ?? (zero ?? " "), align ?? "<", width);
}

function padded(text: string, fill: string, align: string, width: string | undefined): string {
  const missing = bounded(Number(width ?? 0), "a width") - charCount(text);
  if (missing <= 0) return text;
  switch (align) {
    case "<":
      return text + fill.repeat(missing);
    case "^":
      return fill.repeat(missing >> 1) + text + fill.repeat(missing - (missing >> 1));
    case "=": {
      const lead = /^[-+ ]?(?:0[xXob])?/.exec(text)?.[0] ?? "";
      return lead + fill.repeat(missing) + text.slice(lead.length);
    }
    default:
      return fill.repeat(missing) + text;
  }
}
