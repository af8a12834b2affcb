/** One figure of a bench; `floor` is what the same work costs at the least, measured in the same run. */
export interface BenchRow {
  name: string;
  unit: "us" | "1/s";
  value: number;
  floor?: number;
}

/** Microseconds of one call of `run`: the median over batches, after a warm-up. */
export function medianMicros(run: () => unknown, calls = 5000, batches = 15): number {
  const times: number[] = [];
  for (let batch = 0; batch < batches + 3; batch += 1) {
    const start = performance.now();
    for (let call = 0; call < calls; call += 1) kept = run();
    if (batch >= 3) times.push((performance.now() - start) * 1000 / calls);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1] ?? 0;
}

/** Holds the last result, so that no call can be left out as useless. */
export let kept: unknown;
