import { scannedText, type ScannedValue, scanObject, skipSpace } from "./json_scan.ts";

/** What the stdout of an `exec_capture` asks for. */
export type Directive =
  /** As a rendered template; `session` null: this session. */
  | { status: "push"; text: string; wake: boolean; session: string | null }
  /** `push_when` is false. */
  | { status: "withheld" }
  /** Nothing was printed: no push, and nothing to say about it. */
  | { status: "empty" }
  /** `reason` says where as well and quotes nothing of the output; `offset` is the byte of the (first) problem, 0-based. */
  | { status: "bad"; reason: string; offset: number };

type Key = "push_when" | "wake" | "message" | "session";

const BOM = [0xef, 0xbb, 0xbf];

/**
 * Reads the whole stdout of an `exec_capture`: exactly one JSON object `{push_when: boolean, wake: boolean, message: string that
 * is not empty, session?: string or null}`, with more keys ignored, a byte order mark before it and white space around it
 * accepted. Of a key that is given twice the last counts. Bytes that are not UTF-8 become U+FFFD. The message is taken as it
 * is, never as a template. Never throws.
 */
export function parseDirective(stdout: Uint8Array): Directive {
  const from = BOM.every((byte, i) => stdout[i] === byte) ? BOM.length : 0;
  const start = skipSpace(stdout, from);
  if (start === stdout.length) return { status: "empty" };
  if (stdout[start] !== 0x7b) return notAnObject(stdout, start);
  const scan = scanObject(stdout, start);
  if (!scan.ok) return bad(`not a JSON object: ${scan.problem}`, scan.offset);
  const rest = skipSpace(stdout, scan.end);
  if (rest < stdout.length) {
    const isDocument = stdout[rest] === 0x7b || stdout[rest] === 0x5b;
    return bad(isDocument ? "second JSON document" : "text behind the JSON object", rest);
  }
  return fromValues(stdout, start, scan.values);
}

function fromValues(stdout: Uint8Array, start: number, values: ReadonlyMap<string, ScannedValue>): Directive {
  const problems: { text: string; offset: number }[] = [];
  const take = (key: Key, type: ScannedValue["type"], wanted: string): ScannedValue | undefined => {
    const value = values.get(key);
    if (value?.type === type) return value;
    problems.push(
      value
        ? { text: `"${key}" must be ${wanted}, is ${NAMES[value.type]}`, offset: value.start }
        : { text: `"${key}" is missing from the object`, offset: start },
    );
    return undefined;
  };

  const pushWhen = take("push_when", "boolean", "true or false");
  const wake = take("wake", "boolean", "true or false");
  const message = take("message", "string", "a string");
  const text = message ? scannedText(stdout, message) : "";
  if (message && text === "") problems.push({ text: `"message" must not be empty`, offset: message.start });
  const isCurrent = (values.get("session")?.type ?? "null") === "null";
  const session = isCurrent ? undefined : take("session", "string", "a string or null");

  const [first] = problems;
  if (first) {
    const reason = problems.map((problem) => `${problem.text} at byte ${problem.offset}`).join("; ");
    return { status: "bad", reason, offset: first.offset };
  }
  if (!isTrue(stdout, pushWhen)) return { status: "withheld" };
  return {
    status: "push",
    text,
    wake: isTrue(stdout, wake),
    session: session ? scannedText(stdout, session).trim() || null : null,
  };
}

const NAMES: Readonly<Record<ScannedValue["type"], string>> = {
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  null: "null",
  array: "an array",
  object: "an object",
};

function notAnObject(stdout: Uint8Array, start: number): Directive {
  if (stdout[start] === 0x5b) return bad("an array instead of a JSON object", start);
  const brace = stdout.indexOf(0x7b, start);
  if (brace < 0 || !scanObject(stdout, brace).ok) {
    return bad("no JSON object, something else is printed", start);
  }
  const { reason, offset } = bad("something else is printed before the JSON object", start);
  return { status: "bad", reason: `${reason} (the object begins at byte ${brace})`, offset };
}

function isTrue(stdout: Uint8Array, value: ScannedValue | undefined): boolean {
  return value !== undefined && stdout[value.start] === "t".charCodeAt(0);
}

function bad(problem: string, offset: number): Directive & { status: "bad" } {
  return { status: "bad", reason: `${problem} at byte ${offset}`, offset };
}
