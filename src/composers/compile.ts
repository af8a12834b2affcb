import { entryContext } from "../config/entry_context.ts";
import type { Path, SectionContext } from "../config/section.ts";
import { checkMatcher } from "../hooks/check_matcher.ts";
import { parseRate } from "../hooks/rate_limiter.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { compileMatcher } from "../match/mod.ts";
import { checkKeys, DEFAULTS } from "./check_keys.ts";
import type { ComposerInput } from "./composer.ts";
import type { DeclaredComposer } from "./declared.ts";
import { type InputKind, missingProducer, parseKind } from "./kinds.ts";
import type { ComposerEntry } from "./schema.ts";

/** What an input, an `unless`, or either half of a deadline says. */
interface Written {
  kind: string;
  match?: Readonly<Record<string, string>> | null | undefined;
  as?: string | undefined;
}

/** Where the parts of one stand: a deadline calls them `on` and `matcher`. */
interface Place {
  kind: Path;
  match: Path;
}

/** Checks one entry and makes it ready to run; undefined when something about it was reported as an error. */
export function compileComposer(
  entry: ComposerEntry,
  index: number,
  context: SectionContext,
  own: SessionRef,
): DeclaredComposer | undefined {
  const checking = entryContext(context, index);
  const checked = checking.context;
  const consumes: { input: InputKind; path: Path }[] = [];
  const take = (written: Written, place: Place): ComposerInput => {
    const input = checkInput(written, place, checked, own);
    if (input) consumes.push({ input, path: place.kind });
    return compileInput(written, input);
  };
  checkKeys(entry, checked);
  checkLabels(entry, checked);
  const name = entry.name.trim();
  const emits = checkEmit(entry, name, checked, own);
  const inputs = entry.op === "deadline"
    ? []
    : (entry.inputs ?? []).map((input, at) =>
      take(input, { kind: ["inputs", at, "kind"], match: ["inputs", at, "match"] })
    );
  if (entry.op === "deadline" && entry.on !== undefined) {
    inputs.push(take({ kind: entry.on, match: entry.matcher }, { kind: ["on"], match: ["matcher"] }));
  }
  const until = entry.until
    ? take({ kind: entry.until.on, match: entry.until.matcher }, {
      kind: ["until", "on"],
      match: ["until", "matcher"],
    })
    : null;
  const unless = cancellers(entry).map(({ written, path }) =>
    take(written, { kind: [...path, "kind"], match: [...path, "match"] })
  );
  checkNeverArms(inputs, until, checked);
  if (checking.faults > 0 || emits === undefined) return undefined;
  const { policy } = entry;
  return {
    name,
    layer: context.layer,
    index,
    emits,
    consumes,
    composer: {
      name,
      op: entry.op,
      layer: context.layer,
      index,
      inputs,
      until,
      unless,
      emit: emits,
      ttlMs: policy?.ttl ?? entry.ttl ?? DEFAULTS.ttlMs,
      capacity: policy?.capacity ?? DEFAULTS.capacity,
      overflow: policy?.overflow ?? DEFAULTS.overflow,
      maxEventsPerKey: policy?.max_events_per_key ?? DEFAULTS.maxEventsPerKey,
      maxBytes: policy?.max_bytes ?? DEFAULTS.maxBytes,
      correlateBy: entry.correlate_by?.trim() ?? null,
      count: entry.count ?? null,
      maxWaitMs: entry.max_wait ?? null,
      rateLimit: entry.rate_limit === undefined ? null : parseRate(entry.rate_limit),
      durable: entry.durable ?? entry.op === "deadline",
    },
  };
}

function checkInput(
  written: Written,
  place: Place,
  context: SectionContext,
  own: SessionRef,
): InputKind | undefined {
  const parsed = parseKind(written.kind, own);
  // The schema has told.
  if (!parsed.ok) return undefined;
  const { input } = parsed;
  const missing = missingProducer(input);
  if (missing !== undefined) context.report(place.kind, "W_COMPOSER_SOURCE", missing);
  const matched = input.type === "builtin"
    ? { kind: "builtin", point: input.point } as const
    : { kind: input.type === "composed" ? "composed" : "open" } as const;
  checkMatcher(written.match, matched, { path: place.match, code: "E_COMPOSER_MATCH" }, context);
  return input;
}

function compileInput(written: Written, input: InputKind | undefined): ComposerInput {
  const match = written.match ?? {};
  return {
    kind: input?.kind ?? written.kind,
    matcher: Object.keys(match).length > 0 ? compileMatcher(match) : null,
    match,
    as: written.as ?? null,
  };
}

function checkEmit(
  entry: ComposerEntry,
  name: string,
  context: SectionContext,
  own: SessionRef,
): string | undefined {
  if (entry.emit === undefined && entry.op !== "deadline") return undefined;
  const written = entry.emit?.kind ?? `composed:${name}`;
  const parsed = parseKind(written, own);
  if (parsed.ok) return parsed.input.kind;
  context.report(["name"], "E_COMPOSER_KIND", parsed.message, "give it an emit: { kind: composed:<name> }");
  return undefined;
}

function cancellers(entry: ComposerEntry): { written: Written; path: Path }[] {
  if (entry.unless === undefined) return [];
  if (!Array.isArray(entry.unless)) return [{ written: entry.unless, path: ["unless"] }];
  return entry.unless.map((written, at) => ({ written, path: ["unless", at] }));
}

/** What an input matched stands under its name once, so two inputs cannot share one. */
function checkLabels(entry: ComposerEntry, context: SectionContext): void {
  const seen = new Map<string, number>();
  entry.inputs?.forEach(({ as }, index) => {
    if (as === undefined) return;
    const first = seen.get(as);
    if (first === undefined) seen.set(as, index);
    else context.report(["inputs", index, "as"], "E_COMPOSER_NAME", `inputs[${first}] is called "${as}" too`);
  });
}

/** An event that both arms and disarms arms nothing. */
function checkNeverArms(
  [on]: readonly ComposerInput[],
  until: ComposerInput | null,
  context: SectionContext,
): void {
  if (!on || !until || on.kind !== until.kind) return;
  if (Object.entries(until.match).some(([field, pattern]) => on.match[field] !== pattern)) return;
  const message = "every event that arms it disarms it too, so it never fires";
  context.report(["until"], "W_COMPOSER_NO_EFFECT", message, "give until another matcher", "key");
}
