/** One of the sequences that are merged. */
export interface MergeSource<T> {
  /** Smallest key that is to be expected: the source is not asked for an item before the merge has come so far. */
  from: number;
  next(): Promise<{ key: number; item: T } | null>;
}

interface Head<T> {
  key: number;
  rank: number;
  item: T;
  source: MergeSource<T>;
}

/**
 * Merges sources, given in order of `from`, by key; equal keys by the order of the sources. The order within a source is
 * kept even where its keys go back.
 */
export async function* merge<T>(sources: readonly MergeSource<T>[]): AsyncGenerator<T> {
  const heap: Head<T>[] = [];
  let opened = 0;

  const pull = async (source: MergeSource<T>, rank: number): Promise<Head<T> | null> => {
    const next = await source.next();
    return next && { ...next, rank, source };
  };

  for (;;) {
    for (let source = sources[opened]; source; source = sources[opened]) {
      const first = heap[0];
      if (first && first.key < source.from) break;
      const head = await pull(source, opened++);
      if (head) insert(heap, head);
    }
    const first = heap[0];
    if (!first) return;
    yield first.item;
    replaceFirst(heap, await pull(first.source, first.rank));
  }
}

function before<T>(a: Head<T>, b: Head<T>): boolean {
  return a.key < b.key || (a.key === b.key && a.rank < b.rank);
}

function insert<T>(heap: Head<T>[], head: Head<T>): void {
  let at = heap.length;
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up];
    if (!parent || !before(head, parent)) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = head;
}

/** Takes the first head away and puts `head`, or the last one when there is none, where it belongs. */
function replaceFirst<T>(heap: Head<T>[], head: Head<T> | null): void {
  const moved = head ?? heap.pop();
  if (!moved || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    let child = heap[down];
    if (!child) break;
    const right = heap[down + 1];
    if (right && before(right, child)) {
      child = right;
      down++;
    }
    if (!before(child, moved)) break;
    heap[at] = child;
    at = down;
  }
  heap[at] = moved;
}
