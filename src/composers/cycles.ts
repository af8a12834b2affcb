/** A composer as a node: what it emits and which kinds it waits for, in whatever role. */
export interface Feeding {
  emits: string;
  consumes: readonly { input: { kind: string } }[];
}

/**
 * A circle through `start`: it feeds the second, that one the third, and the last feeds `start`. The shortest one;
 * undefined where there is none.
 */
export function findCycle<Node extends Feeding>(nodes: readonly Node[], start: Node): Node[] | undefined {
  const consumers = new Map<string, Node[]>();
  for (const node of nodes) {
    for (const kind of new Set(node.consumes.map(({ input }) => input.kind))) {
      const list = consumers.get(kind);
      if (list) list.push(node);
      else consumers.set(kind, [node]);
    }
  }
  const cameFrom = new Map<Node, Node | undefined>([[start, undefined]]);
  const queue: Node[] = [start];
  for (let at = queue.shift(); at; at = queue.shift()) {
    for (const next of consumers.get(at.emits) ?? []) {
      if (next === start) return pathTo(at, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      queue.push(next);
    }
  }
  return undefined;
}

function pathTo<Node>(end: Node, cameFrom: ReadonlyMap<Node, Node | undefined>): Node[] {
  const path: Node[] = [];
  for (let at: Node | undefined = end; at; at = cameFrom.get(at)) path.unshift(at);
  return path;
}
