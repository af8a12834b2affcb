import { MAX_DEPTH, MAX_OUTPUT_BYTES, type Run, spend, spendSearch, spendText } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { Builtin, Dict, Float, Namespace, plainObject, Sequence, Undefined, type Value } from "./values.ts";

/** Python's `str()`: what `{{ value }}` shows. */
export function toText(run: Run, value: Value): string {
  if (typeof value === "string") return value;
  if (value instanceof Undefined) {
    if (value.strict) throw new RenderFault(value.message);
    return "";
  }
  return repr(run, value);
}

/** Python's `repr()`. */
export function repr(run: Run, value: Value): string {
  let room = MAX_OUTPUT_BYTES;
  const text = show(value, 0);
  spendText(run, text.length);
  return text;

  function list(items: readonly string[]): string {
    for (const item of items) room -= item.length;
    if (room < 0) throw new RenderFault("a text grows too long");
    return items.join(", ");
  }

  function show(inner: Value, depth: number): string {
    if (depth > MAX_DEPTH) throw new RenderFault("a value is nested too deeply");
    if (depth > 0) spend(run, 1);
    switch (typeof inner) {
      case "string":
        spendSearch(run, inner);
        return reprString(inner);
      case "number":
        return numberText(inner);
      case "boolean":
        return inner ? "True" : "False";
      case "object":
        break;
      default:
        throw new RenderFault("a value of a type that JSON does not have");
    }
    if (inner === null) return "None";
    if (inner instanceof Float) return floatText(inner.value);
    if (Array.isArray(inner)) return `[${list(inner.map((item) => show(item, depth + 1)))}]`;
    if (inner instanceof Sequence) {
      const { kind, items } = inner;
      if (kind === "range") return inner.shown ?? rangeText(items);
      const shown = list(items.map((item) => show(item, depth + 1)));
      if (kind === "tuple" || kind === "group") return items.length === 1 ? `(${shown},)` : `(${shown})`;
      return `${kind}([${shown}])`;
    }
    if (inner instanceof Dict) return showPairs([...inner.entries.values()], depth);
    if (inner instanceof Undefined) {
      if (inner.strict) throw new RenderFault(inner.message);
      return "Undefined";
    }
    if (inner instanceof Namespace) return `<Namespace ${showPairs([...inner.fields], depth)}>`;
    if (inner instanceof Builtin) throw new RenderFault(`a ${inner.typeName} cannot be shown`);
    return showPairs(Object.entries(plainObject(inner) ?? {}), depth);
  }

  function showPairs(pairs: readonly (readonly [Value, Value])[], depth: number): string {
    return `{${list(pairs.map(([key, value]) => `${show(key, depth + 1)}: ${show(value, depth + 1)}`))}}`;
  }
}

function rangeText(items: readonly Value[]): string {
  const [first, second] = items.map(Number);
  if (first === undefined) return "range(0, 0)";
  const step = second === undefined ? 1 : second - first;
  const stop = first + items.length * step;
  return step === 1 ? `range(${first}, ${stop})` : `range(${first}, ${stop}, ${step})`;
}

export function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value === 0 ? 0 : value) : floatText(value);
}

/** Python writes an exponent from 1e16 up and below 1e-4, with two digits at least. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const size = Math.abs(value);
  if (size >= 1e16 || size < 1e-4) {
    const [digits = "", exponent = ""] = value.toExponential().split("e");
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  const text = String(value).includes("e") ? value.toFixed(20).replace(/0+$/, "") : String(value);
  return text.includes(".") ? text : `${text}.0`;
}

/** What Python does not show as it is: other, separators, but not the plain space. */
const HIDDEN = /[\p{C}\p{Z}\\'"]/u;

function reprString(text: string): string {
  if (!HIDDEN.test(text)) return `'${text}'`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\p{C}\p{Z}\\'"]/gu, (char) => {
    switch (char) {
      case " ":
        return char;
      case "\n":
        return "\\n";
      case "\r":
        return "\\r";
      case "\t":
        return "\\t";
      case "\\":
        return "\\\\";
      case "'":
      case '"':
        return char === quote ? `\\${char}` : char;
    }
    const code = char.codePointAt(0) ?? 0;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code <= 0xffff
      ? `\\u${code.toString(16).padStart(4, "0")}`
      : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return `${quote}${body}${quote}`;
}
