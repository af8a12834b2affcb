/** Bounds how many turns in a row a session may trigger from inside. */
export interface ValveState {
  /** Turns triggered from inside since the last one that reset it. */
  count: number;
  /** Closed at the cap until a turn resets it; one checkpoint per closing. */
  closed: boolean;
  /** How often a person has given it one more cap since then. */
  extensions: number;
  /** Id of the question that is open about this closing. */
  question: string | null;
}

export const OPEN_VALVE: ValveState = { count: 0, closed: false, extensions: 0, question: null };

export function isOver({ count, extensions }: ValveState, cap: number): boolean {
  return cap > 0 && count >= cap * (1 + extensions);
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
      return { ...valve, count: valve.count + 1 };
    case "none":
      return valve;
  }
}
