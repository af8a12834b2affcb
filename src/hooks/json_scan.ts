/** A value of the object that was scanned; offsets are bytes, 0-based. */
export interface ScannedValue {
  /** Where it begins, and where what follows it begins. */
  start: number;
  end: number;
  type: "string" | "number" | "boolean" | "null" | "array" | "object";
}

export type ObjectScan =
  /** `values`: those of the outermost object by ASCII key; of a key that is given twice, the last. */
  | { ok: true; end: number; values: Map<string, ScannedValue> }
  | { ok: false; offset: number; problem: string };

const MOST_LEVELS = 200;
/** Keys that are longer, as they are written, are passed over: no key that is asked for is. */
const LONGEST_KEY = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const LETTER_U = 0x75;
const LITERALS = [["true", "boolean"], ["false", "boolean"], ["null", "null"]] as const;
const ESCAPES = new Set(Array.from('"\\/bfnrt', (char) => char.charCodeAt(0)));
/** Longer than any literal. */
const LONGEST_WORD = 12;

class Wrong extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/**
 * Reads one JSON object (RFC 8259, strictly) whose `{` is at `start`: where it ends, and where its values are. Works on
 * bytes, because all that shapes JSON is ASCII, which no broken UTF-8 sequence can swallow. Never throws.
 */
export function scanObject(bytes: Uint8Array, start: number): ObjectScan {
  const values = new Map<string, ScannedValue>();
  try {
    const end = object(bytes, start, 1, (key, value) => values.set(key, value));
    return { ok: true, end, values };
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, offset: error.offset, problem: error.message };
    throw error;
  }
}

/** The first byte from `at` on that is not JSON's white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at;
  while (bytes[i] === 0x20 || bytes[i] === 0x0a || bytes[i] === 0x0d || bytes[i] === 0x09) i++;
  return i;
}

/** The text of a string that was scanned. Bytes that are not UTF-8 become U+FFFD. */
export function scannedText(bytes: Uint8Array, value: Pick<ScannedValue, "start" | "end">): string {
  const text: unknown = JSON.parse(decode(bytes, value.start, value.end));
  return String(text);
}

function object(
  bytes: Uint8Array,
  start: number,
  level: number,
  found?: (key: string, value: ScannedValue) => void,
): number {
  return list(bytes, start, level, 0x7d, (at) => {
    if (bytes[at] !== QUOTE) throw wrong(bytes, at, "a key in double quotes");
    const keyEnd = string(bytes, at);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) throw wrong(bytes, colon, "a colon");
    const read = value(bytes, skipSpace(bytes, colon + 1), level);
    if (found && keyEnd - at <= LONGEST_KEY) found(keyText(bytes, at, keyEnd), read);
    return read.end;
  });
}

/** Told apart byte by byte: there may be very many. Beyond ASCII it is not the key's text, and equals none either. */
function keyText(bytes: Uint8Array, start: number, end: number): string {
  const written = ascii(bytes, start, end);
  return written.includes("\\") ? String(JSON.parse(written)) : written.slice(1, -1);
}

/** What stands between brackets, parted by commas. */
function list(
  bytes: Uint8Array,
  start: number,
  level: number,
  close: number,
  item: (at: number) => number,
): number {
  if (level > MOST_LEVELS) throw new Wrong(start, `nested deeper than ${MOST_LEVELS} levels`);
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === close) return at + 1;
  for (;;) {
    at = skipSpace(bytes, item(at));
    if (bytes[at] === close) return at + 1;
    if (bytes[at] !== COMMA) throw wrong(bytes, at, `a comma or ${String.fromCharCode(close)}`);
    at = skipSpace(bytes, at + 1);
  }
}

function value(bytes: Uint8Array, start: number, level: number): ScannedValue {
  const first = bytes[start];
  if (first === QUOTE) return { start, end: string(bytes, start), type: "string" };
  if (first === 0x7b) return { start, end: object(bytes, start, level + 1), type: "object" };
  if (first === 0x5b) {
    const end = list(bytes, start, level + 1, 0x5d, (at) => value(bytes, at, level + 1).end);
    return { start, end, type: "array" };
  }
  if (first === MINUS || isDigit(first)) {
    const end = number(bytes, start);
    if (end !== undefined) return { start, end, type: "number" };
  }
  let end = start;
  while (isWordByte(bytes[end]) && end - start < LONGEST_WORD) end++;
  const word = ascii(bytes, start, end);
  const literal = LITERALS.find(([text]) => text === word);
  if (literal) return { start, end, type: literal[1] };
  throw /^-?(?:NaN|Infinity)$/.test(word)
    ? new Wrong(start, `${word} is not JSON`)
    : wrong(bytes, start, "a value");
}

/** Where the number ends; undefined where none is. What follows it is for the caller to judge. */
function number(bytes: Uint8Array, start: number): number | undefined {
  const digits = (at: number): number => {
    let end = at;
    while (isDigit(bytes[end])) end++;
    return end;
  };
  const whole = bytes[start] === MINUS ? start + 1 : start;
  let end = bytes[whole] === ZERO ? whole + 1 : digits(whole);
  if (end === whole) return undefined;
  if (bytes[end] === 0x2e) {
    const fraction = digits(end + 1);
    if (fraction === end + 1) throw wrong(bytes, fraction, "a digit");
    end = fraction;
  }
  if (bytes[end] === 0x65 || bytes[end] === 0x45) {
    const sign = bytes[end + 1];
    const from = sign === 0x2b || sign === MINUS ? end + 2 : end + 1;
    end = digits(from);
    if (end === from) throw wrong(bytes, end, "a digit");
  }
  return end;
}

function string(bytes: Uint8Array, start: number): number {
  for (let at = start + 1;; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw wrong(bytes, at, "the end of a string");
    if (byte === QUOTE) return at + 1;
    if (byte < 0x20) throw new Wrong(at, "a control character in a string must be written as an escape");
    if (byte === BACKSLASH) at = escape(bytes, at);
  }
}

/** The last byte of an escape. */
function escape(bytes: Uint8Array, start: number): number {
  const kind = bytes[start + 1];
  if (kind !== undefined && ESCAPES.has(kind)) return start + 1;
  if (kind !== LETTER_U) throw kind === undefined ? wrong(bytes, start + 1, "") : notAnEscape(start);
  for (let at = start + 2; at < start + 6; at++) {
    if (bytes[at] === undefined) throw wrong(bytes, at, "");
    if (!isHexDigit(bytes[at])) throw notAnEscape(start);
  }
  return start + 5;
}

function notAnEscape(at: number): Wrong {
  return new Wrong(at, "a backslash that begins no escape of JSON");
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}

function isHexDigit(byte: number | undefined): boolean {
  return byte !== undefined && /[0-9a-fA-F]/.test(String.fromCharCode(byte));
}

function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined &&
    (byte === MINUS || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a));
}

function wrong(bytes: Uint8Array, at: number, expected: string): Wrong {
  return at >= bytes.length
    ? new Wrong(at, "the output ends within it")
    : new Wrong(at, `${expected} is expected`);
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start, end));
}
