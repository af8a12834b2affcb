/** Groups of nodes that reach each other, each sorted; a node alone is one only when it points at itself. */
export function findCycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const state = new Map<string, { index: number; low: number; open: boolean }>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): { index: number; low: number; open: boolean } => {
    const own = { index: state.size, low: state.size, open: true };
    state.set(node, own);
    stack.push(node);
    for (const target of graph.get(node) ?? []) {
      const seen = state.get(target);
      if (!seen) own.low = Math.min(own.low, visit(target).low);
      else if (seen.open) own.low = Math.min(own.low, seen.index);
    }
    if (own.low === own.index) {
      const group = stack.splice(stack.indexOf(node));
      for (const member of group) {
        const entry = state.get(member);
        if (entry) entry.open = false;
      }
      if (group.length > 1 || graph.get(node)?.has(node)) cycles.push(group.sort());
    }
    return own;
  };
  for (const node of graph.keys()) if (!state.has(node)) visit(node);
  return cycles.sort((a, b) => (a[0] ?? "").localeCompare(b[0] ?? ""));
}

/** One way round within a group of `findCycles`, shortest first found, closed by its first node. */
export function wayRound(
  graph: ReadonlyMap<string, ReadonlySet<string>>,
  group: readonly string[],
): string[] {
  const start = group[0];
  if (start === undefined) return [];
  const members = new Set(group);
  let paths: string[][] = [[start]];
  const seen = new Set<string>();
  while (paths.length > 0) {
    const longer: string[][] = [];
    for (const path of paths) {
      for (const target of graph.get(path.at(-1) ?? "") ?? []) {
        if (target === start) return [...path, start];
        if (!members.has(target) || seen.has(target)) continue;
        seen.add(target);
        longer.push([...path, target]);
      }
    }
    paths = longer;
  }
  return [...group];
}
