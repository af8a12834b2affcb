/** What came of a test's events, in order. Instants are milliseconds from the beginning. */
export type Happening =
  | { what: "event"; at: number; kind: string }
  | {
    what: "fire";
    at: number;
    composer: string;
    key: string;
    kind: string;
    payload: Readonly<Record<string, unknown>>;
  }
  | { what: "drop"; at: number; composer: string; key: string; reason: string }
  | { what: "push"; at: number; hook: string; text: string; wake: boolean }
  /** A command that would run. */
  | { what: "run"; at: number; hook: string }
  | { what: "failure"; at: number; hook: string; error: string };

export type HappeningOf<What extends Happening["what"]> = Extract<Happening, { what: What }>;
