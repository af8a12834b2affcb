import { bounded, MAX_OUTPUT_BYTES, type Run, spend, spendChars, STEPS_PER_DIRECTIVE } from "./budget.ts";
import { entryOf } from "./compare.ts";
import { formatNumber } from "./number_text.ts";
import { RenderFault } from "./problem.ts";
import { repr, toText } from "./python_text.ts";
import { charCount, charSlice } from "./strings.ts";
import { isInteger, refuseUndefined, Sequence, typeName, type Value } from "./values.ts";

const DIRECTIVE = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([hlL]?)([\s\S])?/g;
const WITH_POINT = /\./;

/** Python's `format % values`: a tuple's items in turn, a dict's by name, or one value. */
export function formatPercent(run: Run, format: string, values: Value): string {
  const isTuple = values instanceof Sequence && typeName(values) === "tuple";
  const items = isTuple ? values.items : [values];
  spendChars(run, format);
  let used = 0;
  let length = 0;
  let byName = false;
  const next = () => {
    if (used >= items.length) throw new RenderFault("not enough arguments for format string");
    used += 1;
    return items[used - 1];
  };
  const size = (given: string | undefined) => {
    if (given !== "*") return given === undefined ? null : bounded(Number(given), "a width");
    const value = next();
    if (!isInteger(value)) throw new RenderFault("* wants int");
    return bounded(Number(value), "a width");
  };
  const text = format.replace(
    DIRECTIVE,
    (whole, name: string | undefined, flags: string, width, precision, _size, letter) => {
      spend(run, STEPS_PER_DIRECTIVE);
      if (letter === "%") return "%";
      if (letter === undefined) throw new RenderFault("incomplete format");
      const hasName = name !== undefined;
      byName ||= hasName;
      const given = size(width);
      const places = WITH_POINT.test(whole.slice(0, -1).replace(/^%\([^()]*\)/, ""))
        ? size(precision) ?? 0
        : null;
      const value = hasName ? named(values, name) : next();
      const left = flags.includes("-") || (given !== null && given < 0);
      const body = convert(run, value, letter, flags, places);
      const padded = pad(
        body,
        Math.abs(given ?? 0),
        left,
        flags.includes("0") && "dixXofFeEgG".includes(letter),
      );
      length += padded.length;
      if (length > MAX_OUTPUT_BYTES) throw new RenderFault("a text grows too long");
      return padded;
    },
  );
  const leftOver = used < items.length && !byName &&
    (isTuple || !["dict", "list"].includes(typeName(values)));
  if (leftOver) throw new RenderFault("not all arguments converted during string formatting");
  return text;
}

function named(values: Value, name: string): Value {
  if (typeName(values) !== "dict") throw new RenderFault("format requires a mapping");
  const entry = entryOf(values, name);
  if (!entry) throw new RenderFault(`no value for "${name}" in a format string`);
  return entry[1];
}

function convert(run: Run, value: Value, letter: string, flags: string, places: number | null): string {
  switch (letter) {
    case "s":
    case "r":
    case "a": {
      const text = letter === "s" ? toText(run, value) : repr(run, value);
      return places === null ? text : charSlice(text, 0, places);
    }
    case "c":
      return character(run, value);
  }
  if (!/[diuxXofFeEgG]/.test(letter)) throw new RenderFault(`unsupported format character '${letter}'`);
  if (/[xXo]/.test(letter) && !isInteger(value)) {
    refuseUndefined(value);
    throw new RenderFault(`%${letter} format: an integer is required, not ${typeName(value)}`);
  }
  const text = formatNumber(value, letter === "u" ? "d" : letter, places, flags.includes("#"));
  if (text === null) {
    throw new RenderFault(`%${letter} format: a real number is required, not ${typeName(value)}`);
  }
  if (text.startsWith("-")) return text;
  return flags.includes("+") ? `+${text}` : flags.includes(" ") ? ` ${text}` : text;
}

/** A character may be a control character from outside, so it is escaped as such. */
function character(run: Run, value: Value): string {
  if (typeof value === "string" && charCount(value) === 1) return value;
  if (!isInteger(value) || Number(value) < 0 || Number(value) > 0x10ffff) {
    throw new RenderFault("%c requires int or char");
  }
  return run.outside(String.fromCodePoint(Number(value)));
}

function pad(text: string, width: number, left: boolean, zeros: boolean): string {
  const missing = width - charCount(text);
  if (missing <= 0) return text;
  if (left) return text + " ".repeat(missing);
  if (!zeros || /[in]/.test(text)) return " ".repeat(missing) + text;
  const lead = /^[-+ ]?(?:0[xXoO])?/.exec(text)?.[0] ?? "";
  return lead + "0".repeat(missing) + text.slice(lead.length);
}
