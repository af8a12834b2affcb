import type { SentMessage } from "./senders.ts";
import type { PendingFiles } from "./pending_files.ts";
import { BOARD, composedIds, composedPushId, relayId } from "./server_world.ts";
import type { Stored, StoredMessage, StoredSession } from "./stored.ts";

/** What a session's part of the store comes to, records that snapshots stand for not needed. */
interface Told {
  /** Messages in the order in which turns took them. */
  conversation: StoredMessage[];
  ended: Set<number>;
  open: number | undefined;
  retry: number | undefined;
  problems: string[];
}

export interface ServedOptions {
  /** Everything has been answered and taken, and what was armed has fired. */
  settled: boolean;
  /** What composers had pending when the store was read; without it nothing is said of them. */
  pending?: PendingFiles;
}

/** Everything in which the store disagrees with what its senders know, or with itself; empty when all is well. */
export function checkServed(
  stored: Stored | undefined,
  sent: readonly SentMessage[],
  { settled, pending }: ServedOptions,
): string[] {
  const violations = [...pending?.violations ?? []];
  if (stored && stored.integrity !== "ok") violations.push(`the database is damaged: ${stored.integrity}`);
  const told = new Map(stored?.sessions.map((session) => [session.id, { session, told: tell(session) }]));
  for (const one of told.values()) violations.push(...one.told.problems);
  const board = told.get(BOARD);
  const relays = new Set<string>(
    [...board?.told.conversation ?? [], ...board?.session.inbox ?? []].map(({ id }) => id),
  );

  const bySession = new Map<string, SentMessage[]>();
  for (const message of sent) {
    bySession.set(message.session, [...bySession.get(message.session) ?? [], message]);
  }
  for (const [id, messages] of bySession) {
    const one = told.get(id);
    if (!one) {
      if (messages.some(({ acknowledged }) => acknowledged)) {
        violations.push(`${id} is gone with what was acknowledged`);
      }
      continue;
    }
    violations.push(...checkMessages(one.session, one.told, messages));
    for (const turn of one.told.ended) {
      if (!relays.has(relayId(id, turn))) {
        violations.push(`${id}: turn ${turn} ended without its push to ${BOARD}`);
      }
    }
    if (pending) violations.push(...checkComposed(one.session, one.told, pending, settled));
  }
  if (settled) {
    for (const { session, told: one } of told.values()) violations.push(...checkSettled(session, one));
  }
  return violations;
}

/** Acknowledged: there. Sent: there once. Of each sender: in the order in which it sent. */
function checkMessages(session: StoredSession, told: Told, sent: readonly SentMessage[]): string[] {
  const violations: string[] = [];
  const known = new Map(sent.map((message) => [message.text, message]));
  const texts = [
    ...told.conversation.filter(({ role }) => role === "user").map(({ text }) => text),
    ...session.inbox.filter(({ kind }) => kind === "user").map(({ text }) => text),
  ];
  const seen = new Set<string>();
  const last = new Map<number, number>();
  for (const text of texts) {
    const message = known.get(text);
    const name = `${session.id}: ${JSON.stringify(text.slice(0, 40))}`;
    if (!message) violations.push(`${name} was never sent`);
    else {
      if (seen.has(text)) violations.push(`${name} is there twice`);
      else if (message.number <= (last.get(message.sender) ?? 0)) {
        violations.push(`${name} stands behind number ${last.get(message.sender)} of the same sender`);
      }
      last.set(message.sender, message.number);
    }
    seen.add(text);
  }
  for (const { text, acknowledged } of sent) {
    if (acknowledged && !seen.has(text)) {
      violations.push(`${session.id}: ${JSON.stringify(text.slice(0, 40))} was acknowledged and is lost`);
    }
  }
  return violations;
}

/**
 * Each turn that ended has fired one composer and armed the other: what they push is there (that it is there once, `tell` sees),
 * or is still pending.
 */
function checkComposed(
  session: StoredSession,
  { conversation, ended }: Told,
  { sessions }: PendingFiles,
  settled: boolean,
): string[] {
  const violations: string[] = [];
  const there = new Set([...conversation, ...session.inbox].map(({ id }) => id));
  const waiting = sessions.get(session.id) ?? new Set<string>();
  // A turn that takes up an interrupted one has the same text: it finds the deadline armed, or arms it once more.
  const firsts = new Set(conversation.filter(({ role }) => role === "user").map(({ turn }) => turn));
  for (const turn of ended) {
    const { each, late } = composedIds(session.id, turn);
    for (const id of firsts.has(turn) ? [each, late] : [each]) {
      if (there.has(composedPushId(id)) || (!settled && waiting.has(id))) continue;
      violations.push(`${session.id}: turn ${turn} ended, and ${id} neither has fired nor is pending`);
    }
  }
  if (settled && waiting.size > 0) {
    violations.push(`${session.id}: still pending: ${[...waiting].join(", ")}`);
  }
  return violations;
}

function checkSettled(session: StoredSession, { open, retry }: Told): string[] {
  const violations: string[] = [];
  if (open !== undefined) violations.push(`${session.id}: turn ${open} has no end`);
  if (retry !== undefined) violations.push(`${session.id}: turn ${retry} was not taken up again`);
  const waiting = session.inbox.filter(({ wake }) => wake === 1);
  if (waiting.length > 0) {
    violations.push(`${session.id}: ${waiting.length} messages still wait, first ${waiting[0]?.id}`);
  }
  return violations;
}

function tell(session: StoredSession): Told {
  const problems: string[] = [];
  const problem = (text: string) => void problems.push(`${session.id}: ${text}`);
  const upto = session.snapshot?.uptoSeq ?? 0;
  const conversation = [...session.kept];
  const ended = new Set(session.kept.map(({ turn }) => turn));
  let [open, retry]: (number | undefined)[] = [undefined, undefined];
  let turns = Number(session.snapshot?.body["turns"] ?? 0);
  let before = (session.records[0]?.seq ?? upto + 1) - 1;
  if (before > upto) problem(`its records begin at ${before + 1}, behind the snapshot at ${upto}`);
  for (const { seq, record } of session.records) {
    if (seq !== before + 1) problem(`record ${seq} follows ${before}`);
    before = seq;
    if (seq <= upto) continue;
    if (record.t === "turn_started" || record.t === "turn_retried") {
      if (open !== undefined) problem(`turn ${record.turn} begins while turn ${open} has no end`);
      if (record.turn !== turns + 1) problem(`turn ${record.turn} follows turn ${turns}`);
      turns = record.turn ?? turns;
      open = turns;
      retry = undefined;
    }
    if (record.t === "turn_ended") {
      if (record.turn !== open) problem(`turn ${record.turn} ends while turn ${open ?? "none"} runs`);
      ended.add(record.turn ?? 0);
      retry = record.retry === true ? record.turn : undefined;
      open = undefined;
    }
    conversation.push(...record.messages ?? []);
  }
  if (before !== session.walSeq && session.records.length > 0) {
    problem(`its records end at ${before}, the session says ${session.walSeq}`);
  }
  const seen = new Set<string>();
  for (const { id } of [...conversation, ...session.inbox]) {
    if (seen.has(id)) problem(`${id} is there twice`);
    seen.add(id);
  }
  return { conversation, ended, open, retry, problems };
}
