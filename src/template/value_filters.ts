import { attribute, iterate } from "./access.ts";
import { flag, integer, text } from "./arguments.ts";
import type { Run } from "./budget.ts";
import { attributeGetter } from "./item_path.ts";
import { negate } from "./arithmetic.ts";
import { fixed, MAX_PLACES } from "./number_text.ts";
import { RenderFault } from "./problem.ts";
import { applyNamed, type Callable, type Rest } from "./signature.ts";
import { strip } from "./strings.ts";
import { TESTS } from "./tests.ts";
import {
  Builtin,
  floatOf,
  integerOf,
  isInteger,
  Namespace,
  numberOf,
  refuseUndefined,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";
import { truth } from "./truth.ts";

/** Filters on numbers and on values of any type. `map` and the like find filters in the table they are given. */
export function valueFilters(table: ReadonlyMap<string, Callable>): Readonly<Record<string, Callable>> {
  const orElse: Callable = {
    params: ["default_value", "boolean"],
    apply(run, value, [absent, boolean]) {
      if (!(value instanceof Undefined) && !(flag(run, boolean, false) && !truth(run, value))) return value;
      return absent === undefined ? "" : absent;
    },
  };
  return {
    default: orElse,
    d: orElse,
    abs: {
      params: [],
      apply(_run, value) {
        const number = numberOf(value);
        if (number === null) refuseUndefined(value);
        if (number === null) throw new RenderFault(`bad operand type for abs(): '${typeName(value)}'`);
        return number < 0 || Object.is(number, -0)
          ? negate(value)
          : typeof value === "boolean"
          ? number
          : value;
      },
    },
    attr: {
      params: ["name"],
      required: 1,
      apply(run, value, [name]) {
        const wanted = text(name, "name");
        refuseUndefined(value);
        if (value instanceof Namespace || value instanceof Builtin) return attribute(run, value, wanted);
        return new Undefined(`'${typeName(value)} object' has no attribute '${wanted}'`, run.strict);
      },
    },
    int: {
      params: ["default", "base"],
      apply: (_run, value, [absent, base]) => toInteger(value, absent ?? 0, integer(base, 10, "base")),
    },
    float: { params: ["default"], apply: (_run, value, [absent]) => toFloat(value) ?? absent ?? floatOf(0) },
    round: {
      params: ["precision", "method"],
      apply: (_run, value, [precision, method]) =>
        round(value, integer(precision, 0, "precision"), method ?? "common"),
    },
    filesizeformat: {
      params: ["binary"],
      apply: (run, value, [binary]) => fileSize(value, flag(run, binary, false)),
    },
    map: {
      params: [],
      rest: true,
      apply(run, value, _args, { positional, named }) {
        if (!truth(run, value)) return [];
        const [name, ...more] = positional;
        if (name !== undefined) {
          return iterate(run, value).map((item) =>
            applyNamed(run, "filter", table, name, item, { positional: more, named })
          );
        }
        const strange = [...named.keys()].find((key) => key !== "attribute" && key !== "default");
        if (!named.has("attribute") || strange) {
          throw new RenderFault("map wants a filter's name or `attribute`");
        }
        return iterate(run, value).map(attributeGetter(run, named.get("attribute"), named.get("default")));
      },
    },
    select: picker(true, false),
    reject: picker(false, false),
    selectattr: picker(true, true),
    rejectattr: picker(false, true),
  };
}

function picker(wanted: boolean, byAttribute: boolean): Callable {
  return {
    params: [],
    rest: true,
    apply(run, value, _args, { positional, named }) {
      if (!truth(run, value)) return [];
      const [path, ...afterPath] = positional;
      if (byAttribute && path === undefined) throw new RenderFault("the name of an attribute is missing");
      const get = byAttribute ? attributeGetter(run, path) : (item: Value) => item;
      const [test, ...args] = byAttribute ? afterPath : positional;
      const rest: Rest = { positional: args, named };
      return iterate(run, value).filter((item) => passes(run, test, get(item), rest) === wanted);
    },
  };
}

function passes(run: Run, test: Value, value: Value, rest: Rest): boolean {
  return test === undefined
    ? truth(run, value)
    : truth(run, applyNamed(run, "test", TESTS, test, value, rest));
}

/** Longer texts are taken for no number. */
const MAX_DIGITS = 4300;
const DIGITS: Readonly<Record<number, RegExp>> = {
  2: /^(?:0b)?[01]+$/i,
  8: /^(?:0o)?[0-7]+$/i,
  10: /^\d+$/,
  16: /^(?:0x)?[\da-f]+$/i,
};

function toInteger(value: Value, absent: Value, base: number): Value {
  refuseUndefined(value);
  if (typeof value === "string" && value.length > MAX_DIGITS) return absent;
  if (typeof value === "string") {
    const pattern = DIGITS[base];
    if (!pattern) throw new RenderFault("int takes a base of 2, 8, 10 or 16");
    const [, sign, body = ""] = /^([-+]?)(.*)$/s.exec(strip(value, null, "both")) ?? [];
    const digits = body.replace(/(?<=[\da-fx])_(?=[\da-f])/gi, "");
    if (pattern.test(digits)) {
      const size = parseInt(digits.replace(/^0[box]/i, ""), base);
      return integerOf(sign === "-" ? -size : size);
    }
  } else if (isInteger(value)) return Number(value);
  const float = toFloat(value);
  if (float === null) return absent;
  const number = numberOf(float) ?? NaN;
  if (Number.isNaN(number)) return absent;
  if (!Number.isFinite(number)) throw new RenderFault("cannot convert float infinity to integer");
  return integerOf(Math.trunc(number));
}

function toFloat(value: Value): Value {
  refuseUndefined(value);
  if (typeof value !== "string") {
    const number = numberOf(value);
    return number === null ? null : floatOf(number);
  }
  if (value.length > MAX_DIGITS) return null;
  const written = strip(value, null, "both").replace(/(?<=\d)_(?=\d)/g, "").toLowerCase();
  const name = /^([-+]?)(inf|infinity|nan)$/.exec(written);
  if (name) return name[2] === "nan" ? NaN : name[1] === "-" ? -Infinity : Infinity;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/.test(written) ? floatOf(Number(written)) : null;
}

function round(value: Value, precision: number, method: Value): Value {
  const number = numberOf(value);
  refuseUndefined(value);
  if (method !== "common" && method !== "ceil" && method !== "floor") {
    throw new RenderFault("method must be common, ceil or floor");
  }
  if (number === null) throw new RenderFault(`cannot round a value of type ${typeName(value)}`);
  if (Math.abs(precision) > MAX_PLACES) throw new RenderFault(`precision is larger than ${MAX_PLACES}`);
  const scale = 10 ** precision;
  if (method !== "common") {
    const whole = integerOf(Math[method](number * scale));
    return floatOf(whole / scale);
  }
  if (isInteger(value)) return precision >= 0 ? number : integerOf(evenly(number * scale) / scale);
  if (!Number.isFinite(number)) return number;
  return floatOf(precision >= 0 ? Number(fixed(number, precision)) : evenly(number * scale) / scale);
}

function evenly(number: number): number {
  return Number(fixed(number, 0));
}

function fileSize(value: Value, binary: boolean): string {
  const bytes = numberOf(toFloat(value));
  if (bytes === null) throw new RenderFault("filesizeformat wants a number");
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const units = binary
    ? ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"]
    : ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
  let unit = base ** 2;
  let at = 0;
  while (bytes >= unit && at < units.length - 1) {
    unit *= base;
    at += 1;
  }
  return `${fixed(base * bytes / unit, 1)} ${units[at]}`;
}
