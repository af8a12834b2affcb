import type { Layer } from "../config/section.ts";

/** A session as `agent/sid`. */
export interface SessionRef {
  agent: string;
  sid: string;
}

/** What `session:` names: `<agent>/<sid>`, or `<sid>` of the same agent. */
export function parseSessionRef(text: string, own: SessionRef): SessionRef {
  const slash = text.indexOf("/");
  if (slash === -1) return { agent: own.agent, sid: text };
  return { agent: text.slice(0, slash), sid: text.slice(slash + 1) };
}

export function isSameSession(a: SessionRef, b: SessionRef): boolean {
  return a.agent === b.agent && a.sid === b.sid;
}

/** Names of agents and ids of sessions are folder names too. */
const AGENT = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const SID = /^[A-Za-z0-9_@+][A-Za-z0-9_.:@+-]{0,127}$/;

export function isSessionRef({ agent, sid }: SessionRef): boolean {
  return AGENT.test(agent) && SID.test(sid);
}

/** The layers whose hooks may push to other agents, for messages. */
export const OPERATOR_LAYERS = "hooks of ~/.reyn/config.yaml and reyn.yaml";

/** Whether a hook of this layer may name that session. */
export function mayName(ref: SessionRef, own: SessionRef, layer: Layer): boolean {
  return ref.agent === own.agent || layer === "operator" || layer === "startup";
}
