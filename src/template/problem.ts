/** Why a template cannot be used. `line` and `column` are 1-based places in the template's own source. */
export interface TemplateProblem {
  message: string;
  /** UTF-16 offset into the source. */
  offset?: number;
  line?: number;
  column?: number;
  /** The name that is not known, for a caller that looks for similar ones itself. */
  name?: string;
  /** A known name that was probably meant. */
  suggestion?: string;
}

/** Thrown while a template is compiled; never leaves the room. */
export class SourceFault extends Error {
  readonly offset: number;
  readonly unknown: string | undefined;
  readonly suggestion: string | undefined;

  constructor(message: string, offset: number, unknown?: string, suggestion?: string) {
    super(message);
    this.offset = offset;
    this.unknown = unknown;
    this.suggestion = suggestion;
  }
}

/** Thrown while a template is rendered; never leaves the room. */
export class RenderFault extends Error {}

export function problemOf(fault: SourceFault, source: string): TemplateProblem {
  const before = source.slice(0, fault.offset);
  const lines = before.split(/\r\n|\r|\n/);
  return {
    message: fault.message,
    offset: fault.offset,
    line: lines.length,
    column: (lines.at(-1) ?? "").length + 1,
    ...(fault.unknown === undefined ? {} : { name: fault.unknown }),
    ...(fault.suggestion === undefined ? {} : { suggestion: fault.suggestion }),
  };
}

/** A fault about a name that is not among those allowed, with the one that was probably meant. */
export function unknownName(
  what: string,
  name: string,
  known: Iterable<string>,
  offset: number,
): SourceFault {
  const suggestion = nearest(name, known);
  const hint = suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`;
  return new SourceFault(`unknown ${what} "${name}"${hint}`, offset, name, suggestion);
}

/** The known name that is fewest edits away, if that is near enough to be a slip. */
function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8) return Infinity;
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (older[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    older = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
