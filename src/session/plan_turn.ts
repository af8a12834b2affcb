import type { InboxRow } from "../store/store.ts";
import { isFromInside } from "./messages.ts";
import { isOver, type ValveState } from "./valve.ts";

/** What the loop does next with what the inbox holds. */
export type TurnPlan =
  | { next: "idle" }
  | {
    next: "turn";
    kind: string;
    /** Triggered from inside, and so counted by the valve. */
    driven: boolean;
    /** What the turn is about: the triggering message, or the first of several hook wakes. */
    trigger: InboxRow;
    /** Goes before the trigger: passive messages, then hook wakes that ride along; each in order of arrival. */
    context: InboxRow[];
    /** Further hook wakes of the same batch, behind the trigger. */
    alongside: InboxRow[];
  }
  | {
    next: "limit";
    /** Waking messages from inside, which the valve holds back. */
    held: InboxRow[];
  };

export type PlannedTurn = Extract<TurnPlan, { next: "turn" }>;

/**
 * The oldest message that is not a hook wake is a turn of its own, and everything passive and every hook wake queued
 * with it rides along; hook wakes alone make one turn together. A turn from inside needs room in the valve; when a
 * turn from outside is queued too, that one goes first.
 */
export function planTurn(pending: readonly InboxRow[], valve: ValveState, cap: number): TurnPlan {
  const passive = pending.filter((row) => !row.wake);
  const waking = pending.filter((row) => row.wake);
  if (waking.length === 0) return { next: "idle" };

  const over = isOver(valve, cap);
  const hookWakes = waking.filter((row) => row.kind === "hook");
  const others = waking.filter((row) => row.kind !== "hook");
  const trigger = over ? others.find((row) => !isFromInside(row.kind)) : others[0];
  if (trigger) {
    return {
      next: "turn",
      kind: trigger.kind,
      driven: isFromInside(trigger.kind),
      trigger,
      context: [...passive, ...hookWakes],
      alongside: [],
    };
  }
  if (over) return { next: "limit", held: waking };
  const [first, ...rest] = hookWakes;
  if (!first) return { next: "idle" };
  return { next: "turn", kind: "hook", driven: true, trigger: first, context: passive, alongside: rest };
}
