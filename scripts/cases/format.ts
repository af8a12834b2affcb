import { checkJsonPattern } from "./match_json.ts";
import { textMatcher } from "./match_text.ts";
import {
  anything,
  type Context,
  count,
  describeValue,
  flag,
  isMap,
  list,
  mapOf,
  type Of,
  oneOf,
  optional,
  type Path,
  record,
  type Shape,
  text,
  unknownKey,
} from "./shape.ts";
import { content, duration, fileSpec, mode } from "./values.ts";

const exitCode: Shape<number | "any"> = (value, path, context) =>
  value === "any" ? "any" : count(value, path, context);

const environment = mapOf<string | null>((value, path, context) =>
  value === null ? null : text(value, path, context)
);

const ended = {
  exit: optional(exitCode),
  stdout: optional(textMatcher),
  stderr: optional(textMatcher),
};

const processKeys = {
  stdin: optional(content),
  tty: optional(flag),
  env: optional(environment),
  cwd: optional(text),
  timeout: optional(duration),
  background: optional(text),
  expect: optional(record(ended)),
};

const jsonPattern: Shape<unknown> = checkJsonPattern;

const eventPattern = record({ type: text, session: optional(jsonPattern), data: optional(jsonPattern) });
export type EventPattern = Of<typeof eventPattern>;

/** A type alone stands for any event of that type. */
const event: Shape<EventPattern> = (value, path, context) =>
  typeof value === "string" ? { type: value } : eventPattern(value, path, context);

const eventRules = record({
  order: optional(list(event, 1)),
  absent: optional(list(event, 1)),
  count: optional(mapOf(count)),
});

const events: Shape<Of<typeof eventRules>> = (value, path, context) =>
  Array.isArray(value) ? { order: list(event, 1)(value, path, context) } : eventRules(value, path, context);

const session: Shape<{ id: string; pattern: unknown }> = (value, path, context) => {
  if (!isMap(value)) {
    context.report(path, `a map with id is expected, not ${describeValue(value)}`);
    return { id: "", pattern: {} };
  }
  const { id, ...rest } = value;
  if (id === undefined) context.report(path, 'the key "id" is missing');
  const known = ["id", "agent", "state", "history", "inbox", "staged", "valve"];
  for (const key of Object.keys(rest)) {
    if (!known.includes(key)) context.report([...path, key], unknownKey(key, known), "key");
  }
  return {
    id: id === undefined ? "" : text(id, [...path, "id"], context),
    pattern: jsonPattern(rest, path, context),
  };
};

const sessions: Shape<{ id: string; pattern: unknown }[]> = (value, path, context) =>
  Array.isArray(value) ? list(session, 1)(value, path, context) : [session(value, path, context)];

const fileRules = record({
  exists: optional(flag),
  type: optional(oneOf("file", "folder", "symlink")),
  mode: optional(mode),
  size: optional(jsonPattern),
  content: optional(textMatcher),
});

const fileExpectation: Shape<Of<typeof fileRules>> = (value, path, context) =>
  typeof value === "string" ? { content: { exact: value } } : fileRules(value, path, context);

const expectation = record({
  events: optional(events),
  session: optional(sessions),
  files: optional(mapOf(fileExpectation)),
  processes_left: optional(count),
  within: optional(duration),
});
export type Expectation = Of<typeof expectation>;

/** Every step: the key that names it, and its shape. */
const STEPS = {
  run: record({ run: list(text), kill_at: optional(text), ...processKeys }),
  exec: record({ exec: list(text, 1), ...processKeys }),
  send: record({ send: record({ to: text, text: content }) }),
  close_stdin: record({ close_stdin: text }),
  write: record({ write: mapOf(fileSpec) }),
  append: record({ append: record({ path: text, content }) }),
  touch: record({ touch: text }),
  remove: record({ remove: text }),
  rename: record({ rename: record({ from: text, to: text }) }),
  chmod: record({ chmod: record({ path: text, mode }) }),
  wait_event: record({
    wait_event: record({
      type: text,
      session: optional(jsonPattern),
      data: optional(jsonPattern),
      count: optional(count),
      timeout: optional(duration),
    }),
  }),
  wait_output: record({
    wait_output: record({
      of: text,
      stdout: optional(textMatcher),
      stderr: optional(textMatcher),
      timeout: optional(duration),
    }),
  }),
  wait_exit: record({ wait_exit: record({ of: text, ...ended, timeout: optional(duration) }) }),
  signal: record({ signal: record({ to: text, name: text }) }),
  kill: record({ kill: text }),
  advance: record({ advance: record({ of: text, by: duration, timeout: optional(duration) }) }),
  set_clock: record({ set_clock: record({ of: text, by: duration, back: optional(flag) }) }),
  sleep: record({ sleep: duration }),
  http: record({
    http: record({
      url: text,
      method: optional(text),
      headers: optional(mapOf(text)),
      body: optional(content),
      json: optional(anything),
      timeout: optional(duration),
    }),
    expect: optional(record({
      status: optional(count),
      headers: optional(mapOf(textMatcher)),
      body: optional(textMatcher),
    })),
  }),
  expect: record({ expect: expectation }),
};

type Steps = typeof STEPS;
export type StepKind = keyof Steps;
export type StepOf<K extends StepKind> = { kind: K } & Of<Steps[K]>;
export type Step = { [K in StepKind]: StepOf<K> }[StepKind];
export type ProcessStep = StepOf<"run"> | StepOf<"exec">;

const step: Shape<Step> = (value, path, context) => {
  const kind = isMap(value) ? kindOf(value, path, context) : undefined;
  if (!isMap(value)) context.report(path, `a map is expected, not ${describeValue(value)}`);
  if (kind === undefined) return { kind: "sleep", sleep: 0 };
  return { kind, ...STEPS[kind](value, path, context) } as Step;
};

function kindOf(value: Record<string, unknown>, path: Path, context: Context): StepKind | undefined {
  const kinds = Object.keys(STEPS).filter((name): name is StepKind => Object.hasOwn(value, name));
  const other = kinds.filter((name) => name !== "expect");
  const kind = other[0] ?? kinds[0];
  const first = Object.keys(value)[0];
  if (kind === undefined) {
    if (first === undefined) context.report(path, "a step is expected");
    else context.report([...path, first], `no such step: ${unknownKey(first, Object.keys(STEPS))}`, "key");
  }
  if (other.length > 1) context.report(path, `one step does one thing, not ${other.join(" and ")}`);
  return kind;
}

/** A whole case, after the values of its row were put in. */
export const caseShape = record({
  shows: text,
  binary: optional(oneOf("reyn", "test")),
  timeout: optional(duration),
  repeat: optional(count),
  matrix: optional(anything),
  env: optional(environment),
  files: optional(mapOf(fileSpec)),
  steps: list(step, 1),
  expect: optional(expectation),
});

export type Case = Of<typeof caseShape>;
