import { showDuration } from "../../config/scalars.ts";
import { quote } from "../../errors/quote.ts";
import type { Happening, HappeningOf } from "./happenings.ts";
import type { Expected } from "./section.ts";

/** One thing that came otherwise than expected; `path` leads to it from the test's entry. */
export interface Difference {
  path: (string | number)[];
  message: string;
}

/** Instants that differ by less are the same: they come from fractions of seconds. */
const SAME_INSTANT_MS = 0.5;

/** Holds what happened against what a test expects. A list is complete for each composer or hook that it names. */
export function differences(expected: Expected, happened: readonly Happening[]): Difference[] {
  const of = <What extends Happening["what"]>(what: What): HappeningOf<What>[] =>
    happened.filter((one): one is HappeningOf<What> => one.what === what);
  return [
    ...compareList("fires", expected.fires, of("fire"), ({ composer }) => composer, fireDiffers, showFire),
    ...compareList("drops", expected.drops, of("drop"), ({ composer }) => composer, dropDiffers, showDrop),
    ...compareList("pushes", expected.pushes, of("push"), ({ hook }) => hook, pushDiffers, showPush),
    ...compareList("runs", expected.runs, of("run"), ({ hook }) => hook, atDiffers, showRun),
    ...(expected.never ?? []).flatMap((name, index) => {
      const did = happened.find((one) => nameOf(one) === name && one.what !== "failure");
      return did ? [{ path: ["never", index], message: `${quote(name)} did something: ${show(did)}` }] : [];
    }),
    ...of("failure").map(({ hook, at, error }) => ({
      path: [],
      message: `hook ${quote(hook)} failed at ${showAt(at)}: ${error}`,
    })),
  ];
}

function compareList<Wanted, Got extends Happening>(
  list: "fires" | "drops" | "pushes" | "runs",
  wanted: readonly Wanted[] | undefined,
  got: readonly Got[],
  nameIn: (item: Wanted | Got) => string,
  differs: (wanted: Wanted, got: Got) => string | undefined,
  shown: (got: Got) => string,
): Difference[] {
  if (wanted === undefined) return [];
  if (wanted.length === 0) {
    return got.map((one) => ({ path: [list], message: `expected none, but ${shown(one)}` }));
  }
  const found: Difference[] = [];
  for (const name of new Set(wanted.map(nameIn))) {
    const left = got.filter((one) => nameIn(one) === name);
    wanted.forEach((want, index) => {
      if (nameIn(want) !== name) return;
      const next = left.shift();
      const what = next === undefined
        ? `expected ${quote(name)} here, and nothing more came of it`
        : differs(want, next);
      if (what !== undefined) {
        const but = next === undefined ? "" : `, but ${shown(next)}`;
        found.push({ path: [list, index], message: what + but });
      }
    });
    for (const one of left) found.push({ path: [list], message: `one more than expected: ${shown(one)}` });
  }
  return found;
}

function fireDiffers(
  want: NonNullable<Expected["fires"]>[number],
  got: HappeningOf<"fire">,
): string | undefined {
  if (want.key !== undefined && want.key !== got.key) return `expected the key ${quote(want.key)}`;
  const lacking = want.payload && lacks(want.payload, got.payload, "payload");
  return atDiffers(want, got) ?? lacking;
}

function dropDiffers(
  want: NonNullable<Expected["drops"]>[number],
  got: HappeningOf<"drop">,
): string | undefined {
  if (want.key !== undefined && want.key !== got.key) return `expected the key ${quote(want.key)}`;
  if (want.reason !== undefined && want.reason !== got.reason) return `expected the reason ${want.reason}`;
  return atDiffers(want, got);
}

function pushDiffers(
  want: NonNullable<Expected["pushes"]>[number],
  got: HappeningOf<"push">,
): string | undefined {
  if (want.text !== undefined && want.text !== got.text) return `expected the text ${quote(want.text, 200)}`;
  if (want.contains !== undefined && !got.text.includes(want.contains)) {
    return `expected a text with ${quote(want.contains, 200)}`;
  }
  if (want.wake !== undefined && want.wake !== got.wake) return `expected wake: ${want.wake}`;
  return atDiffers(want, got);
}

function atDiffers(want: { at?: number | undefined }, got: { at: number }): string | undefined {
  if (want.at === undefined || Math.abs(want.at - got.at) < SAME_INSTANT_MS) return undefined;
  return `expected it at ${showAt(want.at)}`;
}

/** Where `got` lacks something of `want`: maps may have more keys, lists are compared item by item. */
function lacks(want: unknown, got: unknown, path: string): string | undefined {
  if (Array.isArray(want)) {
    if (!Array.isArray(got)) return `expected ${path} to be a list`;
    if (want.length !== got.length) return `expected ${path} to have ${want.length} items, not ${got.length}`;
    return first(want.map((item, index) => lacks(item, got[index], `${path}[${index}]`)));
  }
  if (typeof want === "object" && want !== null) {
    if (typeof got !== "object" || got === null || Array.isArray(got)) return `expected ${path} to be a map`;
    return first(
      Object.entries(want).map(([key, value]) =>
        Object.hasOwn(got, key)
          ? lacks(value, (got as Record<string, unknown>)[key], `${path}.${key}`)
          : `expected ${path}.${key}, which is not there`
      ),
    );
  }
  return want === got
    ? undefined
    : `expected ${path} to be ${JSON.stringify(want)}, not ${JSON.stringify(got)}`;
}

function first(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function nameOf(one: Happening): string | undefined {
  if ("composer" in one) return one.what === "fire" ? one.composer : undefined;
  return "hook" in one ? one.hook : undefined;
}

/** One line for each thing that happened. */
export function show(one: Happening): string {
  switch (one.what) {
    case "event":
      return `${one.kind} at ${showAt(one.at)}`;
    case "fire":
      return showFire(one);
    case "drop":
      return showDrop(one);
    case "push":
      return showPush(one);
    case "run":
      return showRun(one);
    case "failure":
      return `hook ${quote(one.hook)} failed at ${showAt(one.at)}: ${one.error}`;
  }
}

function showFire({ composer, key, at }: HappeningOf<"fire">): string {
  return `composer ${quote(composer)} fired at ${showAt(at)} for the key ${quote(key)}`;
}

function showDrop({ composer, key, reason, at }: HappeningOf<"drop">): string {
  return `composer ${quote(composer)} dropped what it held for the key ${quote(key)} at ${
    showAt(at)
  }: ${reason}`;
}

function showPush({ hook, text, wake, at }: HappeningOf<"push">): string {
  return `hook ${quote(hook)} pushed ${quote(text, 200)} at ${showAt(at)}, ${wake ? "waking" : "passive"}`;
}

function showRun({ hook, at }: HappeningOf<"run">): string {
  return `hook ${quote(hook)} would run at ${showAt(at)}`;
}

function showAt(ms: number): string {
  return ms === 0 ? "0s" : showDuration(Math.round(ms));
}
