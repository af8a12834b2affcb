/** A message that a hook places in an inbox. */
export interface HookPush {
  /** Deterministic (`<firing>/<layer>:<hook>`), so that a replayed firing puts nothing twice. */
  id: string;
  /** The name in `[hook:NAME]`. */
  hook: string;
  text: string;
  wake: boolean;
  chainId: string | null;
  /** The session whose inbox it goes to, as `<agent>/<sid>`; null: the hook's own. */
  target: string | null;
}

export interface DispatchOutcome {
  pushes: readonly HookPush[];
  /** A hook with `on_error: suspend` that failed. */
  suspendedBy: string | null;
}

/** What dispatch gives where nothing happened: always this object. */
export const NOTHING: DispatchOutcome = Object.freeze({ pushes: Object.freeze([]), suspendedBy: null });
