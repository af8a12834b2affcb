import { MOST_SECTIONS } from "./limits.ts";

/** Reads the parts of a module's binary form. A reading beyond the end, or of a number that is too long, throws `Malformed`. */
export class Malformed extends Error {}

export interface Reader {
  /** Where it stands, from the beginning of the bytes. */
  readonly at: number;
  readonly done: boolean;
  byte(): number;
  /** An unsigned LEB128 number of at most `bits` bits (32 by default). */
  number(bits?: number): number;
  bytes(length: number): Uint8Array;
  /** A length and so many bytes of UTF-8. */
  name(): string;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function reader(bytes: Uint8Array, from = 0, end = bytes.length): Reader {
  let at = from;
  const byte = () => {
    const value = at < end ? bytes[at] : undefined;
    if (value === undefined) throw new Malformed("it ends too early");
    at += 1;
    return value;
  };
  const take = (length: number) => {
    if (length > end - at) throw new Malformed("it ends too early");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (bits = 32) => {
    let result = 0;
    for (let shift = 0; shift < bits; shift += 7) {
      const next = byte();
      result += (next & 0x7f) * 2 ** shift;
      if (next < 0x80) {
        if (result >= 2 ** bits) throw new Malformed("a number is too large");
        return result;
      }
    }
    throw new Malformed("a number is too long");
  };
  return {
    get at() {
      return at;
    },
    get done() {
      return at >= end;
    },
    byte,
    number,
    bytes: take,
    name() {
      try {
        return decoder.decode(take(number()));
      } catch (error) {
        if (error instanceof Malformed) throw error;
        throw new Malformed("a name is not UTF-8");
      }
    },
  };
}

/** A number as unsigned LEB128. */
export function encodeNumber(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    out.push(rest > 0 ? low | 128 : low);
  } while (rest > 0);
  return out;
}

/** A length and the text's bytes. */
export function encodeName(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return Uint8Array.from([...encodeNumber(bytes.length), ...bytes]);
}

export interface Section {
  id: number;
  /** The whole section, its id and length included, as a range of the module's bytes. */
  start: number;
  bodyStart: number;
  end: number;
}

export const SECTION = { type: 1, import: 2, function: 3, table: 4, memory: 5, export: 7, code: 10 } as const;

/** A module's sections in order. Throws `Malformed`. */
export function sections(bytes: Uint8Array): Section[] {
  const HEADER = [0x00, 0x61, 0x73, 0x6d];
  if (HEADER.some((byte, i) => bytes[i] !== byte)) throw new Malformed("it does not begin as a module does");
  const version = bytes[4];
  if (version !== 1 || bytes[5] !== 0 || bytes[6] !== 0 || bytes[7] !== 0) {
    throw new Malformed(
      version === 0x0d || bytes[6] === 1 ? "it is a component, not a module" : "its version is not 1",
    );
  }
  const found: Section[] = [];
  const from = reader(bytes, 8);
  while (!from.done) {
    const start = from.at;
    const id = from.byte();
    const length = from.number();
    const bodyStart = from.at;
    from.bytes(length);
    if (found.length >= MOST_SECTIONS) throw new Malformed(`it has more than ${MOST_SECTIONS} sections`);
    found.push({ id, start, bodyStart, end: bodyStart + length });
  }
  return found;
}

export interface Limits {
  min: number;
  max: number | null;
  shared: boolean;
  is64: boolean;
  customPage: boolean;
}

/** Limits of a memory or a table. */
export function readLimits(from: Reader): Limits {
  const flags = from.byte();
  if (flags > 0x0f) throw new Malformed("limits of an unknown kind");
  const is64 = (flags & 4) !== 0;
  const bits = is64 ? 53 : 32;
  const min = from.number(bits);
  const max = (flags & 1) !== 0 ? from.number(bits) : null;
  const customPage = (flags & 8) !== 0;
  if (customPage) from.number();
  return { min, max, shared: (flags & 2) !== 0, is64, customPage };
}

/** The bytes of a reference type: one, or more for a typed reference. */
export function readReferenceType(from: Reader): number[] {
  const first = from.byte();
  const isTyped = first === 0x63 || first === 0x64;
  return [first, ...(isTyped ? encodeNumber(from.number(33)) : [])];
}
