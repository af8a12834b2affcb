import type { StoredMessage, StoredRecord, StoredSession } from "./stored.ts";

/** What the records of a session come to, worked out apart from the product. */
export interface Replayed {
  history: StoredMessage[];
  turns: number;
  valve: { count: number; closed: boolean };
  /** The turn that has begun and not ended. */
  open: number | undefined;
  /** An interrupted turn that waits to be taken up again. */
  retry: number | undefined;
  endedTurns: Map<number, string>;
  /** Ids that turns took from the inbox, in order. */
  taken: string[];
  /** Rules that the records break. */
  problems: string[];
}

export function replay(session: StoredSession, cap: number): Replayed {
  const state: Replayed = {
    history: [],
    turns: 0,
    valve: { count: 0, closed: false },
    open: undefined,
    retry: undefined,
    endedTurns: new Map(),
    taken: [],
    problems: [],
  };
  const problem = (text: string) => state.problems.push(`${session.id}: ${text}`);
  let kind = "";
  let steps = 0;
  let fromEnd = 0;

  const begin = (record: StoredRecord): StoredMessage[] => {
    const turn = record.turn ?? 0;
    if (state.open !== undefined) problem(`turn ${turn} begins while turn ${state.open} has no end`);
    if (turn !== state.turns + 1) problem(`turn ${turn} follows turn ${state.turns}`);
    const messages = record.messages ?? [];
    for (const { id } of messages) state.taken.push(id);
    state.turns = turn;
    state.open = turn;
    steps = 0;
    return messages;
  };
  const insert = (messages: readonly StoredMessage[]) =>
    state.history.splice(state.history.length - fromEnd, 0, ...messages);

  const take = (record: StoredRecord) => {
    switch (record.t) {
      case "turn_started": {
        const messages = begin(record);
        if (state.retry !== undefined) {
          problem(`turn ${record.turn} begins before turn ${state.retry} is taken up`);
        }
        kind = record.kind ?? "";
        state.history.push(...messages);
        fromEnd = messages.length - (record.about ?? 0);
        if (kind === "user") state.valve = { count: 0, closed: false };
        else state.valve.count += 1;
        if (cap > 0 && state.valve.count > cap) {
          problem(`turn ${record.turn} is number ${state.valve.count} from inside, cap ${cap}`);
        }
        if (record.valve !== (kind === "user" ? "reset" : "count")) {
          problem(`turn ${record.turn} of ${kind}: valve ${record.valve}`);
        }
        return;
      }
      case "turn_retried":
        if (state.retry === undefined || record.of !== state.retry) {
          problem(`turn ${record.turn} takes up turn ${record.of}, but ${state.retry ?? "none"} waits`);
        }
        insert(begin(record));
        state.retry = undefined;
        return;
      case "context":
        if (record.turn !== state.open) problem(`context of turn ${record.turn} in turn ${state.open}`);
        insert(record.messages ?? []);
        return;
      case "step":
        if (record.turn !== state.open) problem(`a step of turn ${record.turn} in turn ${state.open}`);
        if (record.step !== steps + 1) {
          problem(`turn ${record.turn}: step ${record.step} follows step ${steps}`);
        }
        steps = record.step ?? 0;
        state.history.push(...record.messages ?? []);
        fromEnd += record.messages?.length ?? 0;
        return;
      case "turn_ended":
        if (record.turn !== state.open) problem(`turn ${record.turn} ends while turn ${state.open} runs`);
        if (record.status === "ok" && steps === 0) problem(`turn ${record.turn} ended ok without a reply`);
        state.endedTurns.set(record.turn ?? 0, record.status ?? "");
        state.retry = record.retry === true ? record.turn : undefined;
        state.open = undefined;
        return;
      case "valve_closed":
        if (state.valve.closed) problem("the valve closes twice");
        state.valve.closed = true;
        return;
    }
  };

  let seq = 0;
  for (const { seq: found, record } of session.records) {
    if (found !== seq + 1) problem(`WAL record ${found} follows ${seq}`);
    seq = found;
    take(record);
    if (seq === session.snapshot?.uptoSeq) checkSnapshot(session, state, problem);
  }
  if (seq !== session.walSeq) problem(`the WAL ends at ${seq}, its session says ${session.walSeq}`);
  return state;
}

function checkSnapshot(session: StoredSession, state: Replayed, problem: (text: string) => void): void {
  const kept = session.kept.map(({ id }) => id).join("\n");
  const own = state.history.map(({ id }) => id).join("\n");
  if (kept !== own) {
    problem(`the snapshot at ${session.snapshot?.uptoSeq} keeps another conversation than its records`);
  }
  if (session.snapshot?.body["turns"] !== state.turns) {
    problem("the snapshot counts other turns than its records");
  }
}
