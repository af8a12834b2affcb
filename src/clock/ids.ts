/** The only source of identity: `next` gives ids that no other process or call gives. */
export interface Ids {
  next(): string;
}

/** Ids `<process part>-<counter>`: one random draw a process, sortable within it. */
export function randomIds(): Ids {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return sequentialIds([...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
}

export function sequentialIds(prefix: string): Ids {
  let count = 0;
  return { next: () => `${prefix}-${(++count).toString(36)}` };
}
