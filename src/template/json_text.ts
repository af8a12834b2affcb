import { MAX_DEPTH, MAX_OUTPUT_BYTES, type Run, spend, spendSearch, spendText } from "./budget.ts";
import { pairsOf } from "./compare.ts";
import { RenderFault } from "./problem.ts";
import { floatText, numberText } from "./python_text.ts";
import { compareStrings } from "./strings.ts";
import { Float, itemsOf, refuseUndefined, typeName, type Value } from "./values.ts";

const ESCAPED = /[<>&'\x7f-\uffff]/g;

/**
 * What the `tojson` filter gives: keys sorted, `, ` and `: ` between, everything but ASCII and `< > & '` as `\u`
 * escapes, so that the text is safe wherever it lands.
 */
export function jsonText(run: Run, value: Value, indent: number | null): string {
  let room = MAX_OUTPUT_BYTES;
  const text = show(value, 0);
  spendText(run, text.length);
  return text;

  function show(inner: Value, depth: number): string {
    if (depth > MAX_DEPTH) throw new RenderFault("a value is nested too deeply");
    if (depth > 0) spend(run, 1);
    if (typeof inner === "string") {
      spendSearch(run, inner);
      return quoted(inner);
    }
    if (typeof inner === "number") return jsonNumber(numberText(inner));
    if (typeof inner === "boolean") return String(inner);
    if (inner === null) return "null";
    if (inner instanceof Float) return jsonNumber(floatText(inner.value));
    refuseUndefined(inner);
    const type = typeName(inner);
    const items = type === "list" || type === "tuple" ? itemsOf(inner) : null;
    if (items) return wrapped("[", items.map((item) => show(item, depth + 1)), "]", depth);
    if (type !== "dict") throw new RenderFault(`an object of type ${type} is not JSON`);
    const pairs = pairsOf(inner).map(([key, each]): [string, Value] => [keyText(key), each]);
    pairs.sort(([a], [b]) => compareStrings(a, b));
    return wrapped("{", pairs.map(([key, each]) => `${quoted(key)}: ${show(each, depth + 1)}`), "}", depth);
  }

  function wrapped(open: string, parts: readonly string[], close: string, depth: number): string {
    if (parts.length === 0) return open + close;
    const space = indent === null ? "" : `\n${" ".repeat(indent * (depth + 1))}`;
    for (const part of parts) room -= part.length + space.length + 2;
    if (room < 0) throw new RenderFault("a text grows too long");
    const end = indent === null ? "" : `\n${" ".repeat(indent * depth)}`;
    return open + space + parts.join(indent === null ? ", " : `,${space}`) + end + close;
  }
}

function keyText(key: Value): string {
  if (typeof key === "string") return key;
  if (key === null) return "null";
  if (typeof key === "boolean") return String(key);
  if (typeof key === "number") return numberText(key);
  if (key instanceof Float) return floatText(key.value);
  throw new RenderFault(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

function jsonNumber(text: string): string {
  const names: Readonly<Record<string, string>> = { nan: "NaN", inf: "Infinity", "-inf": "-Infinity" };
  return names[text] ?? text;
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    ESCAPED,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
