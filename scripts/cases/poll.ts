const INTERVAL_MS = 20;

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks until the answer is neither undefined nor false, or the time is over; then gives undefined. */
export async function poll<T>(
  timeoutMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() >= until) return undefined;
    await pause(INTERVAL_MS);
  }
}
