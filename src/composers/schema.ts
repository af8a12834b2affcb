import { z } from "zod";
import { refusal, refuse } from "../config/refusal.ts";
import { bool, duration, expecting, nonBlank, show, size } from "../config/scalars.ts";
import { rateLimitKey } from "../hooks/schema.ts";
import { COMPOSER_OPS, OVERFLOW_POLICIES } from "./composer.ts";
import { parseKind } from "./kinds.ts";

const LONGEST_NAME = 200;
/** Controls, invisible and direction characters: the name stands in listings, records and keys. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Longest time that anything is waited for: 10 years. */
const LONGEST_WAIT_MS = 10 * 365 * 24 * 3_600_000;
/** Most that one composer may be allowed to keep: what is durable is written as one text. */
const MOST_BYTES = 256 * 1024 ** 2;

const text = () => z.string({ error: expecting("must be a string") });
const whole = (what: string, max: number) => {
  const error = expecting(`must be a whole number of ${what}, from 1 to ${max}`);
  return z.number({ error }).int({ error }).min(1, { error }).max(max, { error });
};

/** What a kind says does not depend on whose session it is for, only how it is spelt on the bus does. */
const ANY_SESSION = { agent: "default", sid: "main" };

const kind = () =>
  text().superRefine((written, context) => {
    const parsed = parseKind(written, ANY_SESSION);
    if (parsed.ok) return;
    refuse(context, "E_COMPOSER_KIND", parsed.message, parsed.fix === undefined ? {} : { fix: parsed.fix });
  }).meta({
    description:
      "builtin point, llm:self:<name>, composed:<name>, mcp:<server>:<event>, http:<token>:<name>.",
  });

/** Only composed events can be emitted: no composer can pretend that something else happened. */
const composedKind = () =>
  text().superRefine((written, context) => {
    const parsed = parseKind(written, ANY_SESSION);
    if (parsed.ok && parsed.input.type === "composed") return;
    const message = `must be composed:<name>, got ${show(written)}`;
    refuse(context, "E_COMPOSER_KIND", message);
  });

const match = () =>
  z.record(z.string().regex(/\S/, { error: "must not be blank" }), text(), {
    error: expecting("must be a mapping of field to pattern"),
  }).nullable().optional().meta({
    description: "Field to pattern; uri and path are globs, all else is exact.",
  });

const source = () =>
  z.literal("builtin", {
    error: expecting('must be left out or "builtin": events are told apart by their kind and payload'),
  }).optional().meta({ description: "builtin, or nothing." });

const label = () =>
  text().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, {
    error: expecting("must be letters, digits and _, beginning with a letter"),
  });

const input = z.strictObject({
  kind: kind(),
  match: match(),
  source: source(),
  as: label().optional().meta({ description: "Also puts what this input matched under by_name.<as>." }),
}, { error: expecting("must be a mapping with a kind") });

const canceller = z.strictObject({ kind: kind(), match: match(), source: source() });

const wait = () => duration({ min: 1, max: LONGEST_WAIT_MS });

const policy = z.strictObject({
  capacity: whole("correlation keys", 10_000_000).optional().meta({
    description: "Correlation keys that may be pending at once. Default: 10.",
  }),
  overflow: z.enum(OVERFLOW_POLICIES).optional().meta({
    description: "What happens to one key more. Default: drop_oldest.",
  }),
  ttl: wait().optional().meta({ description: "How long is waited. Default: 5m." }),
  max_events_per_key: whole("events", 1_000_000).optional().meta({
    description: "Events kept for one key; the oldest go first. Default: 1000.",
  }),
  max_bytes: size({ min: 1, max: MOST_BYTES }).optional().meta({
    description: "Payloads kept for all keys together, as JSON. Default: 16MiB.",
  }),
});

const until = z.strictObject({ on: kind(), matcher: match(), source: source() });

/** One entry of `composers:`. What depends on more than one key is checked when the entry is compiled. */
export const composerSchema = z.strictObject({
  name: nonBlank()
    .max(LONGEST_NAME, { error: `must have at most ${LONGEST_NAME} characters` })
    .refine(
      (name) => !UNFIT.test(name),
      refusal("E_COMPOSER_NAME", "a composer's name may hold no control characters"),
    )
    .meta({ description: "Unique over all layers." }),
  op: z.enum(COMPOSER_OPS).meta({ description: `How events become one: ${COMPOSER_OPS.join(", ")}.` }),
  inputs: z.array(input, { error: expecting("must be a list of inputs, each with a kind") })
    .min(1, { error: "must have at least one input" }).optional(),
  emit: z.strictObject({
    kind: composedKind(),
  }).optional().meta({
    description: "The event that it publishes. deadline: composed:<name of the composer>.",
  }),
  policy: policy.optional(),
  correlate_by: nonBlank().optional().meta({ description: "The payload field to key on." }),
  count: whole("events", 1_000_000).optional().meta({ description: "op count: how many." }),
  durable: bool().optional().meta({
    description: "Whether what is pending outlives the process. Default: true for deadline.",
  }),
  max_wait: wait().optional().meta({
    description: "op debounce: fires at the latest so long after the first event.",
  }),
  unless: z.union([canceller, z.array(canceller).min(1, { error: "must have at least one input" })], {
    error: expecting("must be a mapping with a kind, or a list of such"),
  }).optional().meta({ description: "An input that forgets what is pending for its key." }),
  rate_limit: rateLimitKey().optional().meta({
    description: "Most fires in a second, minute or hour: 10/m.",
  }),
  on: kind().optional().meta({ description: "op deadline: what arms it." }),
  matcher: match().meta({ description: "op deadline: which of the arming events." }),
  until: until.optional().meta({ description: "op deadline: what has to come in time." }),
  ttl: wait().optional().meta({ description: "op deadline: how long it may take. policy.ttl goes first." }),
});

export type ComposerEntry = z.output<typeof composerSchema>;
