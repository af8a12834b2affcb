/** A composer as a node: what it emits and which kinds it waits for, in whatever role. */
export interface Feeding {
  emits: string;
  consumes: readonly { input: { kind: string } }[];
}

/** Nodes that feed one another in no circle, each added after a look at what it would close. */
export interface FeedGraph<Node extends Feeding> {
  /**
   * The circle that `start` would close: it feeds the second, that one the third, and the last feeds `start`. The
   * shortest one; undefined where there is none.
   */
  circleOf(start: Node): Node[] | undefined;
  add(node: Node): void;
}

export function feedGraph<Node extends Feeding>(): FeedGraph<Node> {
  const consumers = new Map<string, Node[]>();
  const emitted = new Set<string>();
  return {
    circleOf(start) {
      const wanted = kindsOf(start);
      // Mostly nothing feeds it yet, and nothing has to be followed.
      if (!wanted.has(start.emits) && !wanted.values().some((kind) => emitted.has(kind))) return undefined;
      const cameFrom = new Map<Node, Node | undefined>([[start, undefined]]);
      // Grows while it is gone through.
      for (const at of cameFrom.keys()) {
        if (wanted.has(at.emits)) return pathTo(at, cameFrom);
        for (const next of consumers.get(at.emits) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, at);
      }
      return undefined;
    },
    add(node) {
      emitted.add(node.emits);
      for (const kind of kindsOf(node)) {
        const list = consumers.get(kind);
        if (list) list.push(node);
        else consumers.set(kind, [node]);
      }
    },
  };
}

function kindsOf({ consumes }: Feeding): Set<string> {
  return new Set(consumes.map(({ input }) => input.kind));
}

function pathTo<Node>(end: Node, cameFrom: ReadonlyMap<Node, Node | undefined>): Node[] {
  const path: Node[] = [];
  for (let at: Node | undefined = end; at; at = cameFrom.get(at)) path.unshift(at);
  return path;
}
