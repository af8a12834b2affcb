/** Who wants which kind. A lookup after the first of its kind is one look into a map. */
export interface KindIndex<T> {
  add(item: T, kinds: readonly string[]): void;
  remove(item: T): void;
  /** In the order in which they were added. */
  of(kind: string): readonly T[];
  clear(): void;
}

/** Kinds come from outside: what is remembered of them is bounded. */
const MOST_REMEMBERED = 4096;

export function kindIndex<T>(): KindIndex<T> {
  const wishes = new Map<T, readonly string[]>();
  const remembered = new Map<string, readonly T[]>();

  const find = (kind: string): readonly T[] => {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    const found = [...wishes].filter(([, kinds]) => kinds.some((wish) => covers(wish, kind))).map(([item]) =>
      item
    );
    remembered.set(kind, found);
    return found;
  };

  return {
    add(item, kinds) {
      wishes.set(item, kinds);
      remembered.clear();
    },
    remove(item) {
      wishes.delete(item);
      remembered.clear();
    },
    of: (kind) => remembered.get(kind) ?? find(kind),
    clear() {
      wishes.clear();
      remembered.clear();
    },
  };
}

function covers(wish: string, kind: string): boolean {
  return wish.endsWith("*") ? kind.startsWith(wish.slice(0, -1)) : wish === kind;
}
