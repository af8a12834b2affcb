import { REACTION_POINTS } from "../points/reactions.ts";

/** Distinct values of one label of one metric; what comes after them is `other`. */
const MOST_VALUES = 64;
const LONGEST_VALUE = 48;

const POINTS: ReadonlySet<string> = new Set(REACTION_POINTS);

/** The point of a firing: composed events, of which agents may make ever more, are one. */
export function pointLabel(point: unknown): string {
  if (typeof point !== "string") return "unknown";
  if (POINTS.has(point)) return point;
  return point.startsWith("composed:") ? "composed" : "other";
}

/** A reason of an event in one word: `inbox full` is `inbox_full`. */
export function wordLabel(value: unknown): string {
  if (typeof value !== "string") return "unknown";
  const word = value.replace(/[^A-Za-z0-9.]+/g, "_").replace(/^_+|_+$/g, "").slice(0, LONGEST_VALUE);
  return word === "" ? "unknown" : word;
}

/** Keeps series few, whatever an event says: each label of each metric has so many values and then `other`. */
export function createLimiter(): (metric: string, labels: Record<string, string>) => Record<string, string> {
  const seen = new Map<string, Set<string>>();
  return (metric, labels) => {
    const limited: Record<string, string> = {};
    for (const [label, value] of Object.entries(labels)) {
      const key = `${metric} ${label}`;
      const values = seen.get(key) ?? new Set<string>();
      seen.set(key, values);
      const known = values.has(value) || values.size < MOST_VALUES;
      if (known) values.add(value);
      limited[label] = known ? value : "other";
    }
    return limited;
  };
}
