import { RenderFault } from "./problem.ts";
import type { Value } from "./values.ts";

/** Steps of one rendering: one per node evaluated in a loop, item a filter looks at, or some characters. */
export const MAX_STEPS = 500_000;
/** Bytes of UTF-8 of one rendering's output, and characters of any text made on the way. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Largest count or width that a filter, method or `range` takes, and most items of a list made by the template. */
export const MAX_COUNT = 100_000;
/** How deep lists and maps may lie in each other. */
export const MAX_DEPTH = 100;

/** What a place of a format string costs: numbers with many digits take a while. */
export const STEPS_PER_DIRECTIVE = 10;

/** One rendering under way. */
export interface Run {
  readonly variables: Readonly<Record<string, unknown>>;
  /** What loops and `set` assigned; UNSET where nothing has been yet. */
  readonly slots: Value[];
  readonly strict: boolean;
  /** Escapes what comes from outside; the identity where that is not asked for. */
  readonly outside: (text: string) => string;
  /** Values from outside with their texts escaped, by variable. */
  readonly escaped: Map<string, Value>;
  output: string;
  stepsLeft: number;
}

export function spend(run: Run, steps: number): void {
  run.stepsLeft -= steps;
  if (run.stepsLeft < 0) throw new RenderFault("the template takes too many steps");
}

/** Pays for a text that was made or searched. */
export function spendText(run: Run, length: number): void {
  if (length > MAX_OUTPUT_BYTES) throw new RenderFault("a text grows too long");
  if (length >= 256) spend(run, length >>> 8);
}

/** Pays for looking through a text that is there already, however long it is. */
export function spendRead(run: Run, length: number): void {
  if (length >= 256) spend(run, length >>> 8);
}

/** Pays for going through a text with an expression. */
export function spendSearch(run: Run, text: string): void {
  if (text.length >= 32) spend(run, text.length >>> 5);
}

/** Pays for handling a text character by character. */
export function spendChars(run: Run, text: string): void {
  spend(run, text.length >>> 1);
}

/** Pays for a text and gives it back. */
export function made(run: Run, text: string): string {
  spendText(run, text.length);
  return text;
}

/** Pays for items of a list that is about to be made. */
export function spendItems(run: Run, count: number): void {
  if (count > MAX_COUNT) throw new RenderFault("a list grows too long");
  spend(run, count);
}

export function write(run: Run, text: string): void {
  run.output += text;
  if (run.output.length > MAX_OUTPUT_BYTES) throw new RenderFault("the output is larger than 1 MiB");
}

/** A count or width that is small enough to act on. */
export function bounded(value: number, what: string): number {
  if (Math.abs(value) > MAX_COUNT) throw new RenderFault(`${what} is larger than ${MAX_COUNT}`);
  return value;
}
