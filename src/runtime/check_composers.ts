import { checkAgainst, unsentInputs } from "../composers/combine.ts";
import type { DeclaredComposer } from "../composers/declared.ts";
import { startsRun } from "../config/load_file.ts";
import type { Layer } from "../config/section.ts";
import { didYouMean } from "../config/suggest.ts";
import type { LayerValue } from "../config/values.ts";
import { type Finding, isError } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import type { ComposedHook } from "../hooks/section.ts";

export interface CheckedComposers {
  findings: Finding[];
  /** Of all layers that stay, in their order. */
  composers: readonly DeclaredComposer[];
  /** An operator or startup layer holds an error. */
  stopsStart: boolean;
  /** Files that are left out, those of `leftOut` included. */
  leftOut: ReadonlySet<string>;
}

export interface CheckComposersOptions {
  layers: readonly LayerValue<DeclaredComposer[]>[];
  /** Hooks at composed events, in the order of the files. */
  hooks: readonly ComposedHook[];
  /** Every file, as findings show it, with its layer. */
  files: ReadonlyMap<string, Layer>;
  /** Files that are left out already. */
  leftOut: ReadonlySet<string>;
  /** What composers emit that may have been left out for their errors. */
  declared: ReadonlySet<string>;
  /** Some entry could not be read as far as what it emits. */
  incomplete: boolean;
  /** Whether somebody may send events of that kind from outside. */
  isSent: (kind: string) => boolean;
}

/**
 * What only all layers together tell: names that are taken, circles, hooks and inputs at events that nothing emits. A
 * file of an inner layer that holds an error is left out whole, which may leave others without what they wait for.
 */
export function checkComposers(options: CheckComposersOptions): CheckedComposers {
  const leftOut = new Set(options.leftOut);
  const findings: Finding[] = [];
  for (;;) {
    const round = judge(options, leftOut);
    const failing = new Set(
      round.findings.filter(isError).flatMap(({ place }) =>
        place && isInner(options, place.file) ? place.file : []
      ),
    );
    if (failing.size === 0) {
      findings.push(...round.findings);
      const stopsStart = round.findings.some(isError);
      return { findings, composers: round.composers, stopsStart, leftOut };
    }
    for (const file of failing) {
      leftOut.add(file);
      findings.push(...round.findings.filter(({ place }) => place?.file === file));
      const message = `this file of the ${options.files.get(file)} layer is left out`;
      findings.push(finding("W_LAYER_SKIPPED", message, { place: { file, line: 1, column: 1 } }));
    }
  }
}

function isInner({ files }: CheckComposersOptions, file: string): boolean {
  const layer = files.get(file);
  return layer !== undefined && !startsRun(layer);
}

/** One look at the files that are not left out. */
function judge(
  { layers, hooks, declared, incomplete, isSent }: CheckComposersOptions,
  leftOut: ReadonlySet<string>,
): { findings: Finding[]; composers: DeclaredComposer[] } {
  const findings: Finding[] = [];
  const composers: DeclaredComposer[] = [];
  const usable = layers.filter(({ shown }) => !leftOut.has(shown));
  for (const layer of usable) {
    for (const { path, code, message } of checkAgainst(composers, layer.value)) {
      findings.push(layer.finding(path, code, message));
    }
    composers.push(...layer.value);
  }
  const emitted = new Set(composers.map(({ emits }) => emits));
  for (const layer of usable) {
    for (const { path, code, message, fix } of unsentInputs(layer.value, emitted, isSent)) {
      findings.push(layer.finding(path, code, message, fix));
    }
  }
  for (const { kind, finding: told } of hooks) {
    // A composer with errors has been told of.
    if (
      emitted.has(kind) || (incomplete && declared.has(kind)) || (told.place && leftOut.has(told.place.file))
    ) continue;
    const near = didYouMean(kind, [...emitted, ...declared]);
    const fix = near === undefined ? {} : { fix: near };
    findings.push(
      incomplete || leftOut.size > 0
        ? { ...told, ...finding("W_HOOK_COMPOSED", `${told.message}, of those that can be used`, fix) }
        : { ...told, ...fix },
    );
  }
  return { findings, composers };
}

/** The findings with `more` among them, each where it stands in its file; that a file is left out comes last. */
export function mergeFindings(findings: readonly Finding[], more: readonly Finding[]): Finding[] {
  const merged = [...findings];
  for (const one of more) {
    const file = one.place?.file;
    const first = merged.findIndex(({ place }) => place !== undefined && place.file === file);
    if (first === -1) {
      merged.push(one);
      continue;
    }
    const before = merged.findLastIndex((other) => other.place?.file === file && comesBefore(other, one));
    merged.splice(before === -1 ? first : before + 1, 0, one);
  }
  return merged;
}

function comesBefore(a: Finding, b: Finding): boolean {
  if (a.code === "W_LAYER_SKIPPED" || b.code === "W_LAYER_SKIPPED") return b.code === "W_LAYER_SKIPPED";
  const [at, bt] = [a.place, b.place];
  if (!at || !bt) return true;
  return at.line < bt.line || (at.line === bt.line && at.column <= bt.column);
}
