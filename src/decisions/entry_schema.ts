import { z } from "zod";
import { bool, envName, expecting } from "../config/scalars.ts";
import { refusal, refuse } from "../config/refusal.ts";
import { didYouMean } from "../config/suggest.ts";
import { quote } from "../errors/quote.ts";
import { DECISION_POINTS, isDecisionPoint } from "../points/decisions.ts";
import { MATCH_FIELDS } from "./declaration.ts";

/** `$` without `m` stands for the very end, so that a name cannot end in a newline. */
const NAME = /^[a-z][a-z0-9-]*$/;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const DEFAULT_TIMEOUT_SECONDS = 10;
/** Names in a plugin's config that reyn itself sets. */
const OWN_CONFIG = /^(?:argv\b|reyn\.)/;

/** Headers that the protocol itself sets. */
const OWN_HEADERS = new Set([
  "accept",
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  "x-request-id",
  "x-reyn-signature",
  "x-reyn-timestamp",
]);

const point = z.string({ error: expecting("must be the name of a decision point") }).superRefine(
  (name, context) => {
    if (isDecisionPoint(name)) return;
    const fix = didYouMean(name, DECISION_POINTS) ?? `the points are ${DECISION_POINTS.join(", ")}`;
    refuse(context, "E_HOOK_POINT", `${quote(name)} is no decision point`, { fix });
  },
);

const seconds = (initial: number) =>
  z.number({ error: expecting("must be seconds as a number above 0") })
    .positive({ error: expecting("must be seconds as a number above 0") }).default(initial);

const pattern = z.string({ error: expecting("must be text: a value, or a glob") });

/** What every entry may hold. */
const common = {
  name: z.string().superRefine((name, context) => {
    if (NAME.test(name)) return;
    const message = `${quote(name)} cannot be the name of a decision hook`;
    refuse(context, "E_HOOK_NAME", message, {
      fix: "lower-case letters, digits and -, beginning with a letter",
    });
  }),
  on: z.array(point, { error: expecting("must be a list of decision points") }).min(1)
    .refine(
      (points) => new Set(points).size === points.length,
      refusal("E_HOOK_POINT", "names a point twice"),
    )
    .nullish(),
  required: bool().default(false),
  enabled: bool().default(true),
  mode: z.enum(["enforce", "observe"]).default("enforce"),
  match: z.strictObject(Object.fromEntries(MATCH_FIELDS.map((field) => [field, pattern.optional()])))
    .nullish(),
  timeoutSeconds: seconds(DEFAULT_TIMEOUT_SECONDS),
};

const withOptions = z.record(z.string(), z.unknown(), { error: expecting("must be a mapping") }).nullish();
const target = z.string().transform((text) => text.trim());
/** Another kind's key, left without a value. */
const blank = z.unknown().optional();

const local = {
  executor: z.string().regex(IDENTIFIER, { error: expecting("must be the name of an export") }).nullish(),
  with: withOptions,
  isolate: bool().default(false),
};

function headerProblem(name: string): { message: string; rest?: { fix: string } } | undefined {
  const lower = name.toLowerCase();
  if (lower === "authorization") {
    const fix = "tokenEnv names the variable with the bearer token";
    return { message: "the header Authorization may not be set", rest: { fix } };
  }
  if (OWN_HEADERS.has(lower)) return { message: `the header ${name} is set by the protocol itself` };
  return HEADER_NAME.test(name) ? undefined : { message: `${quote(name)} is not the name of a header` };
}

export const ENTRY_SCHEMAS = {
  module: z.strictObject({ ...common, ...local, module: target, path: blank, url: blank, wasm: blank }),
  path: z.strictObject({ ...common, ...local, path: target, module: blank, url: blank, wasm: blank }),
  wasm: z.strictObject({
    ...common,
    wasm: target,
    with: withOptions.superRefine((config, context) => {
      for (const key of Object.keys(config ?? {})) {
        if (!OWN_CONFIG.test(key)) continue;
        const message = `${quote(key)} is a name of reyn's own in a plugin's config`;
        refuse(context, "E_EXECUTOR_KEY", message, { path: [key], at: "key" });
      }
    }),
    module: blank,
    path: blank,
    url: blank,
  }),
  url: z.strictObject({
    ...common,
    url: target,
    tokenEnv: envName().optional(),
    signEnv: envName().optional(),
    headers: z.record(
      z.string(),
      z.string({ error: expecting("must be text") }).regex(HEADER_VALUE, {
        error: "must be one line of plain text",
      }),
      { error: expecting("must be a mapping of header to text") },
    ).superRefine((headers, context) => {
      for (const name of Object.keys(headers)) {
        const problem = headerProblem(name);
        if (problem) {
          refuse(context, "E_EXECUTOR_HEADER", problem.message, { ...problem.rest, path: [name], at: "key" });
        }
      }
    }).nullish(),
    breaker: z.strictObject({
      after: z.int({ error: expecting("must be a whole number above 0") }).min(1).default(5),
      probe: seconds(30),
    }).optional(),
    module: blank,
    path: blank,
    wasm: blank,
  }),
};

export type ExecutorKind = keyof typeof ENTRY_SCHEMAS;
export const EXECUTOR_KINDS = Object.keys(ENTRY_SCHEMAS) as readonly ExecutorKind[];

/** The keys that belong to some kinds only, with those kinds. */
export const KINDS_OF_KEY: ReadonlyMap<string, readonly ExecutorKind[]> = new Map(
  [...new Set(EXECUTOR_KINDS.flatMap((kind) => Object.keys(ENTRY_SCHEMAS[kind].shape)))]
    .map((key) => [key, EXECUTOR_KINDS.filter((kind) => Object.hasOwn(ENTRY_SCHEMAS[kind].shape, key))]),
);

export const chainTimeout = z.number({ error: expecting("must be seconds as a number above 0") })
  .positive({ error: expecting("must be seconds as a number above 0") }).optional();
