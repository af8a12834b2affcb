/** A place in an order; items move to where they belong at once, mostly to the end. */
export interface Link<T> {
  readonly item: T;
  before: Link<T> | null;
  after: Link<T> | null;
  /** Whether it stands in a chain. */
  placed: boolean;
}

/** Items in the order of their rank, the lowest first; of one rank, in the order in which they were placed. */
export interface Chain<T> {
  first(): T | undefined;
  place(link: Link<T>): void;
  remove(link: Link<T>): void;
}

export function newLink<T>(item: T): Link<T> {
  return { item, before: null, after: null, placed: false };
}

export function createChain<T>(rank: (item: T) => number): Chain<T> {
  let first: Link<T> | null = null;
  let last: Link<T> | null = null;
  return {
    first: () => first?.item,
    place(link) {
      const own = rank(link.item);
      let before = last;
      while (before && rank(before.item) > own) before = before.before;
      const after: Link<T> | null = before ? before.after : first;
      link.before = before;
      link.after = after;
      link.placed = true;
      if (before) before.after = link;
      else first = link;
      if (after) after.before = link;
      else last = link;
    },
    remove(link) {
      if (!link.placed) return;
      if (link.before) link.before.after = link.after;
      else first = link.after;
      if (link.after) link.after.before = link.before;
      else last = link.before;
      link.before = null;
      link.after = null;
      link.placed = false;
    },
  };
}
