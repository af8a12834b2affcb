import { compileGlob, compileMatcher, type Matcher } from "../../src/match/mod.ts";
import { type BenchRow, medianMicros } from "./measure.ts";

const payload = {
  point: "mcp_resource_updated",
  server: "github",
  uri: "file:///repo/docs/guide/introduction.md",
  agent_name: "default",
  resync: false,
};

function allOf(matchers: readonly Matcher[]): () => number {
  return () => {
    let failed = 0;
    for (const matcher of matchers) if (matcher.failedField(payload) !== null) failed += 1;
    return failed;
  };
}

function hundred(make: (index: number) => Record<string, string>): () => number {
  return allOf(Array.from({ length: 100 }, (_, index) => compileMatcher(make(index))));
}

/** What matchers cost at a point with a hundred hooks, none of which matches. */
export async function rows(): Promise<BenchRow[]> {
  const names = Array.from({ length: 100 }, (_, index) => `server-${index}`);
  const exactFloor = medianMicros(() => {
    let failed = 0;
    for (const name of names) if (payload.server !== name) failed += 1;
    return failed;
  });
  const prefixFloor = medianMicros(() => {
    let failed = 0;
    for (const name of names) if (!payload.uri.startsWith(name)) failed += 1;
    return failed;
  });
  const exact = medianMicros(hundred((n) => ({ server: `server-${n}` })));
  const prefix = medianMicros(hundred((n) => ({ uri: `file:///repo/src-${n}/**` })));
  const inner = medianMicros(hundred((n) => ({ uri: `file:///repo/*/part-${n}/*.md` })));
  const sets = medianMicros(hundred((n) => ({ uri: `file:///srv-${n}/[a-z]?*.md` })));
  const automaton = compileGlob("*/g[a-z]ide/?ntro*[!x]d");
  return [
    { name: "match: 100 equality matchers that fail", unit: "us", value: exact, floor: exactFloor },
    { name: "match: 100 `prefix**` globs that fail", unit: "us", value: prefix, floor: prefixFloor },
    { name: "match: 100 `a*b*c` globs that fail", unit: "us", value: inner, floor: prefixFloor },
    {
      name: "match: 100 globs with sets that fail at their prefix",
      unit: "us",
      value: sets,
      floor: prefixFloor,
    },
    {
      name: "match: 1 glob with sets, run to its end",
      unit: "us",
      value: medianMicros(() => automaton(payload.uri)),
    },
  ];
}
