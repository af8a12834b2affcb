/** Freezes an event's payload, lists and maps inside it too. What is frozen already is taken to be so all through. */
export function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (const item of value) freezeDeep(item);
    return;
  }
  for (const key in value) freezeDeep((value as Record<string, unknown>)[key]);
}
