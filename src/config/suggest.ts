/**
 * The candidate that the operator most likely meant, if any is near: equal but for case and separators
 * (`SessionStart` for `session_start`), else at most 2 edits away (1 for words of up to 4 letters, a third of the
 * length for long ones), a swap of neighbours being one edit. Ties go to the first candidate.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 100) return undefined;
  const plain = squash(word);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const other = squash(candidate);
    if (plain === other && plain !== "") return candidate;
    const length = Math.max(plain.length, other.length);
    const limit = length <= 4 ? 1 : Math.max(2, Math.floor(length / 3));
    if (Math.abs(plain.length - other.length) > limit) continue;
    const distance = editDistance(plain, other);
    if (distance <= limit && distance < length && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean "on"?`, for a finding's fix. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const near = suggest(word, candidates);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

function squash(word: string): string {
  return word.trim().toLowerCase().replace(/[_\-. ]/g, "");
}

/** Damerau-Levenshtein distance in the form where a pair is swapped at most once. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(before, j - 2) + 1);
      }
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
