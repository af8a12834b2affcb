import type { JsonObject } from "../store/store.ts";
import type { SessionState } from "./state.ts";

/** What listings show without reading the WAL: written with the commit that changes it. */
export function sessionStatus(state: SessionState, cap: number): JsonObject {
  return {
    open: state.open,
    turns: state.turns,
    count: state.valve.count,
    cap,
    closed: state.valve.closed,
    extensions: state.valve.extensions,
    asking: state.valve.question !== null,
    suspended: state.suspended,
    unloaded: state.unloaded !== null,
    retry: state.retry !== null,
    // What a start of a server has to look at.
    attention: (state.open && state.unloaded === null) || state.retry !== null || state.valve.closed ||
      state.suspended !== null,
  };
}
