/** Longer lists stay as they are: freezing one costs a microsecond for each element. */
const LONGEST_FROZEN = 64;

/** Freezes a value, what is inside it too. What is frozen already is taken to be so all through. */
export function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  if (Array.isArray(value)) {
    freezeList(value);
    for (const item of value) freezeDeep(item);
    return;
  }
  Object.freeze(value);
  for (const key in value) freezeDeep((value as Record<string, unknown>)[key]);
}

/** Freezes a list whose items are frozen, unless it is a long one. */
export function freezeList(list: readonly unknown[]): void {
  if (list.length <= LONGEST_FROZEN) Object.freeze(list);
}
