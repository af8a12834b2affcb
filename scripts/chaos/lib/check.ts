import type { Ledger } from "./ledger.ts";
import { replay, type Replayed } from "./replay.ts";
import type { Stored, StoredSession } from "./stored.ts";
import { endPushId, type Flavour } from "./world.ts";

/** What `sessions show --json` says, as far as it is compared. */
export interface Shown {
  id: string;
  state: string;
  history: { id: string; role: string; text: string; turn: number }[];
  inbox: { id: string; kind: string; wake: boolean; text: string }[];
  staged: unknown[];
  valve: { count: number; cap: number; closed: boolean };
}

export interface CheckOptions {
  flavour: Flavour;
  /** All sessions have run until idle: nothing may be under way or wait. */
  settled: boolean;
  /** What the product itself shows, by session. */
  shown?: ReadonlyMap<string, Shown>;
}

/** Everything in which the store and the ledger disagree, or the store with itself; empty when all is well. */
export function check(stored: Stored | undefined, ledger: Ledger, options: CheckOptions): string[] {
  const violations: string[] = [];
  if (stored && stored.integrity !== "ok") violations.push(`the database is damaged: ${stored.integrity}`);
  const sessions = new Map(stored?.sessions.map((session) => [session.id, session]));
  for (const id of ledger.sessions) {
    const session = sessions.get(id);
    if (session) violations.push(...checkSession(session, ledger, options));
    else if (isKnown(ledger, id)) violations.push(`${id}: what was acknowledged is gone, the session too`);
  }
  return violations;
}

function isKnown(ledger: Ledger, id: string): boolean {
  return (ledger.shown.get(id)?.size ?? 0) > 0 ||
    ledger.sent.some(({ session, fate }) => session === id && fate === "acknowledged");
}

function checkSession(session: StoredSession, ledger: Ledger, options: CheckOptions): string[] {
  const replayed = replay(session, options.flavour.cap);
  return [
    ...replayed.problems,
    ...checkSent(session, replayed, ledger),
    ...checkShown(session, replayed, ledger),
    ...checkInbox(session, replayed, options),
    ...options.settled ? checkSettled(session, replayed) : [],
    ...checkView(session, replayed, options),
  ];
}

/** Messages of people, by their texts, which are all different. */
function checkSent(session: StoredSession, replayed: Replayed, ledger: Ledger): string[] {
  const counts = new Map<string, number>();
  const count = (text: string) => counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const message of replayed.history) if (message.role === "user") count(message.text);
  for (const message of session.inbox) if (message.kind === "user") count(message.text);
  const violations: string[] = [];
  for (const { text, fate, session: id } of ledger.sent) {
    if (id !== session.id) continue;
    const times = counts.get(text) ?? 0;
    const name = `${session.id}: message ${JSON.stringify(text.slice(0, 40))}`;
    if (fate === "acknowledged" && times === 0) violations.push(`${name} was acknowledged and is lost`);
    if (fate === "refused" && times > 0) violations.push(`${name} was refused and is there`);
    if (times > 1) violations.push(`${name} is there ${times} times`);
    counts.delete(text);
  }
  for (const text of counts.keys()) {
    violations.push(`${session.id}: message ${JSON.stringify(text.slice(0, 40))} was never sent`);
  }
  return violations;
}

/** What runs have shown as done. */
function checkShown(session: StoredSession, replayed: Replayed, ledger: Ledger): string[] {
  const violations: string[] = [];
  const history = new Map(replayed.history.map(({ id, text }) => [id, text]));
  for (const [id, text] of ledger.shown.get(session.id) ?? []) {
    const found = history.get(id);
    if (found === undefined) violations.push(`${session.id}: ${id} was shown and is lost`);
    else if (found !== text) violations.push(`${session.id}: ${id} was shown with another text`);
  }
  for (const [turn, status] of ledger.ended.get(session.id) ?? []) {
    const found = replayed.endedTurns.get(turn);
    if (found !== status) {
      violations.push(`${session.id}: turn ${turn} was shown as ended ${status}, stored: ${found}`);
    }
  }
  const accepted = new Set(session.accepted);
  for (const id of ledger.pushed.get(session.id) ?? []) {
    if (!accepted.has(id) && !history.has(id)) {
      violations.push(`${session.id}: push ${id} was shown and is lost`);
    }
  }
  for (const turn of replayed.endedTurns.keys()) {
    if (!accepted.has(endPushId(session.id, turn))) {
      violations.push(`${session.id}: turn ${turn} ended without the push of its turn_end`);
    }
  }
  return violations;
}

/** Every message is accepted once, and then waits, was taken once, or (only a hook's) was dropped by the valve. */
function checkInbox(session: StoredSession, replayed: Replayed, { flavour }: CheckOptions): string[] {
  const violations: string[] = [];
  const once = (ids: readonly string[], what: string): Set<string> => {
    const seen = new Set<string>();
    for (const id of ids) {
      if (seen.has(id)) violations.push(`${session.id}: ${id} is ${what} twice`);
      seen.add(id);
    }
    return seen;
  };
  const accepted = once(session.accepted, "accepted");
  const taken = once(replayed.taken, "taken");
  const waiting = once(session.inbox.map(({ id }) => id), "in the inbox");
  once(replayed.history.map(({ id }) => id), "in the conversation");
  for (const id of accepted) {
    if (waiting.has(id) && taken.has(id)) violations.push(`${session.id}: ${id} was taken and still waits`);
    if (waiting.has(id) || taken.has(id)) continue;
    const droppable = flavour.onLimit === "abort" && id.startsWith(`${session.id}/`);
    if (!droppable) violations.push(`${session.id}: ${id} was accepted and is nowhere`);
  }
  for (const id of [...taken, ...waiting]) {
    if (!accepted.has(id)) violations.push(`${session.id}: ${id} was never accepted`);
  }
  const found = {
    waking: session.inbox.filter(({ wake }) => wake === 1).length,
    passive: session.inbox.filter(({ wake }) => wake !== 1).length,
    bytes: session.inbox.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  for (const key of ["waking", "passive", "bytes"] as const) {
    if (found[key] !== session[key]) {
      violations.push(`${session.id}: ${key} ${session[key]}, in the inbox ${found[key]}`);
    }
  }
  return violations;
}

function checkSettled(session: StoredSession, replayed: Replayed): string[] {
  const violations: string[] = [];
  if (replayed.open !== undefined) violations.push(`${session.id}: turn ${replayed.open} has no end`);
  if (replayed.retry !== undefined) {
    violations.push(`${session.id}: turn ${replayed.retry} was not taken up again`);
  }
  for (const { id, kind, wake } of session.inbox) {
    if (kind === "user") violations.push(`${session.id}: the message ${id} was not taken`);
    else if (wake === 1) violations.push(`${session.id}: ${id} still wakes`);
  }
  return violations;
}

function checkView(session: StoredSession, replayed: Replayed, { shown, flavour }: CheckOptions): string[] {
  const view = shown?.get(session.id);
  if (!view) return shown ? [`${session.id}: not shown`] : [];
  const violations: string[] = [];
  const line = (message: { id: string; role: string; text: string; turn: number }) =>
    `${message.id} ${message.role} ${message.turn} ${message.text}`;
  const [mine, theirs] = [replayed.history.map(line), view.history.map(line)];
  const differs = mine.findIndex((text, index) => text !== theirs[index]);
  if (differs !== -1 || mine.length !== theirs.length) {
    violations.push(
      `${session.id}: sessions show differs from the records at message ${differs}: ` +
        `${mine[differs]?.slice(0, 120)} / ${
          theirs[differs]?.slice(0, 120)
        } (${mine.length}/${theirs.length})`,
    );
  }
  const valve = { count: replayed.valve.count, cap: flavour.cap, closed: replayed.valve.closed };
  if (
    JSON.stringify(valve) !==
      JSON.stringify({ count: view.valve.count, cap: view.valve.cap, closed: view.valve.closed })
  ) {
    violations.push(`${session.id}: valve ${JSON.stringify(view.valve)}, replayed ${JSON.stringify(valve)}`);
  }
  if (view.inbox.length + view.staged.length !== session.inbox.length) {
    violations.push(`${session.id}: sessions show has another inbox than the store`);
  }
  return violations;
}
