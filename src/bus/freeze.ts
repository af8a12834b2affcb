/** Longer lists stay as they are: freezing one costs a microsecond for each element. */
const LONGEST_FROZEN = 64;
/** What is nested deeper than this is neither frozen nor measured; doors refuse it. */
const DEEPEST = 500;

/**
 * Freezes a value, what is inside it too, and tells about how many bytes it takes as JSON: one for each unit of a text,
 * eight for a number.
 */
export function freezeDeep(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  if (depth > DEEPEST) return 8;
  let size = 2;
  if (Array.isArray(value)) {
    freezeList(value);
    for (const item of value) size += 1 + freezeDeep(item, depth + 1);
    return size;
  }
  Object.freeze(value);
  for (const key in value) {
    size += key.length + 4 + freezeDeep((value as Record<string, unknown>)[key], depth + 1);
  }
  return size;
}

/** Freezes a list whose items are frozen, unless it is a long one. */
export function freezeList(list: readonly unknown[]): void {
  if (list.length <= LONGEST_FROZEN) Object.freeze(list);
}
