import type { SectionContext } from "../config/section.ts";
import type { ComposerOp as Op } from "./composer.ts";
import type { ComposerEntry } from "./schema.ts";

type Key = Exclude<keyof ComposerEntry, "name" | "op">;

/** Keys that only some ops take. */
const ONLY: Partial<Record<Key, { ops: readonly Op[]; fix?: string }>> = {
  on: { ops: ["deadline"], fix: "list it under inputs" },
  matcher: { ops: ["deadline"], fix: "give the input a match" },
  until: { ops: ["deadline"], fix: "unless is what cancels other ops" },
  ttl: { ops: ["deadline"], fix: "write policy: { ttl: … }" },
  max_wait: { ops: ["debounce"] },
  count: { ops: ["count"] },
};
/** Ops that keep nothing between events, so that these keys do nothing. */
const STATELESS: ReadonlySet<Op> = new Set(["any"]);
const OF_STATE: readonly Key[] = ["policy", "durable", "unless"];

/** Reports keys that do not go with the op, and those that it lacks. */
export function checkKeys(input: ComposerEntry, context: SectionContext): void {
  const { op } = input;
  const key = (name: Key, message: string, fix?: string) =>
    context.report([name], "E_COMPOSER_KEY", message, fix, "key");
  for (const [name, { ops, fix }] of Object.entries(ONLY) as [Key, { ops: readonly Op[]; fix?: string }][]) {
    if (input[name] === undefined || ops.includes(op)) continue;
    key(name, `${name} belongs to ${ops.join(" and ")}, not to ${op}`, fix);
  }
  const lacks = (name: Key, what: string) =>
    context.report([], "E_COMPOSER_KEY", `${op} needs ${name}: ${what}`);
  if (op === "deadline") {
    if (input.inputs !== undefined) key("inputs", "deadline takes no inputs", "write on: and until:");
    if (input.unless !== undefined) key("unless", "until is what cancels a deadline");
    if (input.on === undefined) lacks("on", "the event that arms it");
    if (input.until === undefined) lacks("until", "the event that has to come in time");
  } else {
    if (input.inputs === undefined) lacks("inputs", "the events that it waits for");
    if (input.emit === undefined) lacks("emit", "{ kind: composed:<name> }");
    if (op === "seq" && input.inputs?.length === 1) {
      context.report(["inputs"], "E_COMPOSER_KEY", "seq needs at least two inputs", "with one, use any");
    }
  }
  if (op === "correlate_by" && input.correlate_by === undefined) {
    lacks("correlate_by", "the payload field to key on");
  }
  if (op === "count" && input.count === undefined) lacks("count", "how many events make one");
  checkCount(input, context);
  if (STATELESS.has(op)) {
    for (const name of OF_STATE) {
      if (input[name] === undefined) continue;
      // How large an event may be counts for it too.
      if (name === "policy" && Object.keys(input.policy ?? {}).every((one) => one === "max_bytes")) continue;
      const message = `${op} keeps nothing between events, so ${name} has no effect`;
      context.report([name], "W_COMPOSER_NO_EFFECT", message, undefined, "key");
    }
  }
  checkDeadline(input, context);
}

/** Ops that need an event of each input at the same time. */
const GATHERING: ReadonlySet<Op> = new Set(["all", "seq", "correlate_by"]);

function checkCount({ op, count, inputs, policy }: ComposerEntry, context: SectionContext): void {
  const most = policy?.max_events_per_key ?? DEFAULTS.maxEventsPerKey;
  const needed = inputs?.length ?? 0;
  if (GATHERING.has(op) && needed > most) {
    const message = `it needs an event of each of ${needed} inputs, and only ${most} are kept for one key`;
    const fix = `set policy.max_events_per_key to ${needed} or more`;
    const [path, at] = policy?.max_events_per_key === undefined
      ? [["inputs"], "key"] as const
      : [["policy", "max_events_per_key"], "value"] as const;
    context.report(path, "E_COMPOSER_KEY", message, fix, at);
  }
  if (op !== "count" || count === undefined || count <= most) return;
  const message = `count is ${count}, and only ${most} events are kept for one key`;
  context.report(["count"], "E_COMPOSER_KEY", message, `set policy.max_events_per_key to ${count} or more`);
}

function checkDeadline(input: ComposerEntry, context: SectionContext): void {
  if (input.op !== "deadline") return;
  if (input.durable === false) {
    const message = "a deadline that is not durable dies with its process, and then never fires";
    context.report(["durable"], "W_COMPOSER_DURABLE", message, "leave durable out, or write true");
  }
  if (input.correlate_by !== undefined && input.policy?.capacity === undefined) {
    const message = `with correlate_by, only ${DEFAULTS.capacity} keys can be armed at once`;
    context.report(["correlate_by"], "W_COMPOSER_CAPACITY", message, "set policy.capacity");
  }
  if (input.ttl !== undefined && input.policy?.ttl !== undefined) {
    const message = "policy.ttl goes first, so this ttl has no effect";
    context.report(["ttl"], "W_COMPOSER_NO_EFFECT", message, "keep one of the two", "key");
  }
}

/** What holds where the operator says nothing. */
export const DEFAULTS = {
  capacity: 10,
  overflow: "drop_oldest",
  ttlMs: 300_000,
  maxEventsPerKey: 1000,
  maxBytes: 16 * 1024 ** 2,
} as const;
