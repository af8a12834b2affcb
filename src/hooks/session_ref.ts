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
