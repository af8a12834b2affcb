import type { DispatchOutcome, HookPush } from "../hooks/push.ts";

/**
 * Gathers what hooks in the background push: what comes while a commit runs goes into the next one together. What it
 * gives resolves when the outcome is durable.
 */
export function gatherDeliveries(
  commit: (pushes: readonly HookPush[], suspendedBy: string | null) => Promise<void>,
): (outcome: DispatchOutcome) => Promise<void> {
  let next: { outcomes: DispatchOutcome[]; done: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const begin = (): { outcomes: DispatchOutcome[]; done: Promise<void> } => {
    const outcomes: DispatchOutcome[] = [];
    const done = last.then(() => {
      next = undefined;
      const suspendedBy = outcomes.find((one) => one.suspendedBy !== null)?.suspendedBy ?? null;
      return commit(outcomes.flatMap(({ pushes }) => pushes), suspendedBy);
    });
    last = done.catch(() => {});
    return { outcomes, done };
  };

  return (outcome) => {
    next ??= begin();
    next.outcomes.push(outcome);
    return next.done;
  };
}
