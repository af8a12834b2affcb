/** Bounds how many turns in a row a session may trigger from inside. */
export interface ValveState {
  /** Turns triggered from inside since the last one that reset it. */
  count: number;
  /** Closed at the cap until a turn resets it; one checkpoint per closing. */
  closed: boolean;
}

export const OPEN_VALVE: ValveState = { count: 0, closed: false };

export function isOver(valve: ValveState, cap: number): boolean {
  return cap > 0 && valve.count >= cap;
}

export type ValveEffect = "count" | "reset" | "none";

/** What a turn of this kind does to the valve. `resetOn` adds to `user`. */
export function valveEffect(kind: string, driven: boolean, resetOn: readonly string[]): ValveEffect {
  if (kind === "user" || resetOn.includes(kind)) return "reset";
  return driven ? "count" : "none";
}

export function afterTurn(valve: ValveState, effect: ValveEffect): ValveState {
  switch (effect) {
    case "reset":
      return OPEN_VALVE;
    case "count":
      return { count: valve.count + 1, closed: valve.closed };
    case "none":
      return valve;
  }
}
