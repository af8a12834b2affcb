/** Deepest nesting of an event's payload. */
export const DEEPEST_PAYLOAD = 100;

/** Whether a value from outside is nested deeper than `most`, looked at without going as deep as it is. */
export function isNestedDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true;
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const inner of Object.values(one)) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}
