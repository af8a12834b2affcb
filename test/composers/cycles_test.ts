import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { feedGraph } from "../../src/composers/cycles.ts";

interface Node {
  name: string;
  emits: string;
  consumes: { input: { kind: string } }[];
}

const node = (name: string, emits: string, ...kinds: string[]): Node => ({
  name,
  emits,
  consumes: kinds.map((kind) => ({ input: { kind } })),
});
const cycle = (nodes: Node[], start: Node) => {
  const graph = feedGraph<Node>();
  for (const one of nodes) if (one !== start) graph.add(one);
  return graph.circleOf(start)?.map(({ name }) => name);
};

describe("a circle of composers", () => {
  it("is found from one to itself, and over several, the shortest first", () => {
    const self = node("self", "x", "x");
    assert.deepEqual(cycle([self], self), ["self"]);
    const [a, b, c, d] = [
      node("a", "a", "c", "d"),
      node("b", "b", "a"),
      node("c", "c", "b"),
      node("d", "d", "a"),
    ];
    assert.deepEqual(cycle([a, b, c, d], a), ["a", "d"]);
    assert.deepEqual(cycle([a, b, c], c), ["c", "a", "b"]);
  });

  it("is found through either of two composers that emit the same", () => {
    const [a, b, other] = [node("a", "x", "y"), node("b", "y", "x"), node("other", "x", "turn_end")];
    assert.deepEqual(cycle([a, other, b], other), undefined);
    assert.deepEqual(cycle([a, other, b], b), ["b", "a"]);
  });

  it("is none in a diamond of many", () => {
    const nodes = [node("n0", "n0", "turn_end")];
    for (let n = 1; n <= 300; n++) nodes.push(node(`n${n}`, `n${n}`, `n${n - 1}`, `n${Math.max(0, n - 2)}`));
    for (const one of nodes) assert.equal(cycle(nodes, one), undefined);
  });
});
