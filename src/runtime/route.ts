import type { Clock } from "../clock/clock.ts";
import type { Hook } from "../hooks/hook.ts";
import type { Route } from "../hooks/ports.ts";
import {
  isSameSession,
  isSessionRef,
  mayName,
  OPERATOR_LAYERS,
  parseSessionRef,
  type SessionRef,
} from "../hooks/session_ref.ts";
import type { Store } from "../store/store.ts";
import { hourlyBound } from "./hourly_bound.ts";

export interface Router {
  /** Where pushes of hooks of this session go. */
  from(own: SessionRef): (target: string, hook: Pick<Hook, "layer">) => Route | Promise<Route>;
}

export interface RouterOptions {
  store: Pick<Store, "session">;
  /** Declared agents. */
  agents: readonly string[];
  clock: Clock;
}

/** Every agent has this session, whether it was ever opened or not. */
const MAIN = "main";
/** Sessions that pushes may bring into being within an hour. */
const MOST_SPAWNED = 1000;

/**
 * Finds the session that a push names: one that exists, `main` of any declared agent, or `<transport>:<id>` of the same
 * agent, which a push may bring into being. Nothing else is ever created by a push.
 */
export function createRouter({ store, agents, clock }: RouterOptions): Router {
  const spawned = hourlyBound(MOST_SPAWNED, clock);

  const lookUp = async (ref: SessionRef, own: SessionRef): Promise<Route> => {
    const id = `${ref.agent}/${ref.sid}`;
    if (ref.sid === MAIN || spawned.has(id) || await store.session(id)) return { to: "session", id };
    if (ref.agent !== own.agent || !ref.sid.includes(":")) {
      return refused("there is no such session");
    }
    if (!spawned.take(id)) return refused(`pushes have made ${MOST_SPAWNED} sessions within an hour`);
    return { to: "session", id };
  };

  return {
    from: (own) => (target, hook) => {
      const ref = parseSessionRef(target, own);
      if (!isSessionRef(ref)) return refused("no session can be called that");
      if (isSameSession(ref, own)) return { to: "own" };
      if (!mayName(ref, own, hook.layer)) {
        return refused(`only ${OPERATOR_LAYERS} may name a session of another agent`);
      }
      if (!agents.includes(ref.agent)) return refused("no agent is called that");
      return lookUp(ref, own);
    },
  };
}

function refused(reason: string): Route {
  return { to: "refused", reason };
}
