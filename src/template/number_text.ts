import { RenderFault } from "./problem.ts";
import { isInteger, numberOf, refuseUndefined, type Value } from "./values.ts";

/** Most decimals that a number is shown with. */
export const MAX_PLACES = 100;

/** A finite number's decimals, `places` behind the point, an exact half to the even digit, as Python rounds. */
export function fixed(value: number, places: number): string {
  const size = Math.abs(value);
  const digits = size >= 1e21
    ? `${BigInt(size)}.${"0".repeat(100)}`
    : size.toFixed(Math.min(100, places + 40));
  const point = digits.indexOf(".");
  const whole = digits.slice(0, point);
  const fraction = digits.slice(point + 1).padEnd(places, "0");
  const kept = BigInt(whole + fraction.slice(0, places));
  const dropped = fraction.slice(places).padEnd(1, "0");
  const half = `5${"0".repeat(dropped.length - 1)}`;
  const up = dropped > half || (dropped === half && kept % 2n === 1n);
  const all = String(up ? kept + 1n : kept).padStart(places + 1, "0");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return sign + (places === 0 ? all : `${all.slice(0, -places)}.${all.slice(-places)}`);
}

function scientific(value: number, places: number): string {
  const [digits = "", exponent = "+0"] = value.toExponential(Math.min(100, places)).split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

function general(value: number, precision: number, keepZeros: boolean): string {
  const significant = Math.max(1, precision);
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const exponent = Number(value.toExponential(Math.min(100, significant - 1)).split("e")[1]);
  const plain = exponent >= -4 && exponent < significant;
  const text = plain ? fixed(value, significant - 1 - exponent) : scientific(value, significant - 1);
  if (keepZeros) return text;
  return text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
}

/** A number as one of the letters of format strings says; `null` where the letter is none for numbers. */
export function formatNumber(
  value: Value,
  letter: string,
  precision: number | null,
  alternate: boolean,
): string | null {
  const number = numberOf(value);
  refuseUndefined(value);
  const lower = letter.toLowerCase();
  if (number === null) return null;
  if ("dixob".includes(lower)) {
    const whole = isInteger(value) ? number : Math.trunc(number);
    if (!Number.isFinite(whole)) throw new RenderFault("cannot convert float to integer");
    const base = lower === "x" ? 16 : lower === "o" ? 8 : lower === "b" ? 2 : 10;
    const digits = BigInt(Math.abs(whole)).toString(base).padStart(precision ?? 0, "0");
    const prefix = alternate && base !== 10 ? `0${lower}` : "";
    const text = `${whole < 0 ? "-" : ""}${prefix}${digits}`;
    return letter === "X" ? text.toUpperCase() : text;
  }
  const places = precision ?? 6;
  if (places > MAX_PLACES) throw new RenderFault(`a precision is larger than ${MAX_PLACES}`);
  if (!Number.isFinite(number)) {
    const name = Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
    return letter === lower ? name : name.toUpperCase();
  }
  switch (lower) {
    case "f":
      return fixed(number, places);
    case "%":
      return `${fixed(number * 100, places)}%`;
    case "e":
      return letter === lower ? scientific(number, places) : scientific(number, places).toUpperCase();
    case "g":
      return letter === lower
        ? general(number, places, alternate)
        : general(number, places, alternate).toUpperCase();
    default:
      return null;
  }
}

/** Puts `separator` between groups of digits before the point. */
export function grouped(text: string, separator: string, size = 3): string {
  const match = /^(-?(?:0[xob])?)([0-9a-fA-F]+)(.*)$/s.exec(text);
  if (!match) return text;
  const [, sign = "", digits = "", rest = ""] = match;
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= size) {
    groups.unshift(digits.slice(Math.max(0, end - size), end));
  }
  return sign + groups.join(separator) + rest;
}
