/** What a composed event may carry: the first two always, the others from a deadline or where inputs have names. */
export const COMPOSED_FIELDS = [
  "inputs",
  "correlation_key",
  "by_name",
  "armed_at",
  "ttl",
  "awaited",
] as const;

/** Those of them that a matcher can match: the others are lists and maps. */
export const MATCHABLE_COMPOSED_FIELDS: readonly string[] = ["correlation_key", "armed_at", "ttl"];
