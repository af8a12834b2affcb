import type { Audit } from "../audit/audit.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { JsonObject, Op, Store } from "../store/store.ts";
import type { SessionEvent } from "./events.ts";
import {
  apply,
  emptyState,
  fromSnapshot,
  type SessionRecord,
  type SessionState,
  snapshotBody,
} from "./state.ts";
import type { HistoryMessage } from "./messages.ts";
import { sessionStatus } from "./status.ts";

/** Records that change what listings show. */
const LISTED: ReadonlySet<SessionRecord["t"]> = new Set([
  "opened",
  "turn_ended",
  "valve_closed",
  "valve_answered",
  "suspended",
  "resumed",
  "unloaded",
  "ended",
]);
/** Records between two snapshots. A snapshot costs as much as what it adds, so this only bounds recovery. */
const SNAPSHOT_EVERY = 1024;

/** The session's state and the only way to change it: a record that is durable before it counts. */
export interface Journal {
  /** Its history lacks what snapshots hold until `history` has been called. */
  readonly state: SessionState;
  /** The whole conversation, read from disk at the first call. */
  history(): Promise<readonly HistoryMessage[]>;
  /** Messages put so far by commits, this session's inbox and others' alike. */
  readonly puts: number;
  /**
   * Appends records and does `more` in one commit, then applies the records. `duplicate` means that a message to be
   * consumed was already gone and nothing happened. Throws when another owner has taken the session.
   */
  commit(records: readonly SessionRecord[], more?: readonly Op[]): Promise<"ok" | "duplicate">;
}

export interface JournalOptions {
  session: string;
  epoch: number;
  store: Store;
  audit: Audit;
  /** The valve's cap, for listings. */
  cap: number;
  observe: (event: SessionEvent) => void;
  /** Told of each other session that was given a message. */
  routed: (session: string, waking: boolean) => void;
}

export interface Recovered {
  /** Its history begins behind the newest snapshot. */
  state: SessionState;
  /** Records behind the newest snapshot. */
  tail: number;
}

/** Rebuilds the state from the newest snapshot and the records behind it. What the snapshots hold of the history stays on disk. */
export async function recover(store: Store, session: string): Promise<Recovered> {
  const snapshot = await store.snapshot(session);
  const state = snapshot ? fromSnapshot(snapshot.body) : emptyState();
  let tail = 0;
  for await (const batch of store.records(session, snapshot?.uptoSeq ?? 0)) {
    for (const { record } of batch) apply(state, record as unknown as SessionRecord);
    tail += batch.length;
  }
  return { state, tail };
}

/** The history that snapshots hold, oldest first. */
export async function olderHistory(store: Store, session: string): Promise<HistoryMessage[]> {
  const older: HistoryMessage[] = [];
  for await (const segment of store.history(session)) {
    for (const message of segment) older.push(message as unknown as HistoryMessage);
  }
  return older;
}

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { session, epoch, store, audit, cap, observe, routed } = options;
  const recovered = await recover(store, session);
  const { state } = recovered;
  let sinceSnapshot = recovered.tail;
  /** Messages at the beginning of the history at hand that snapshots hold already. */
  let kept = 0;
  let whole = false;

  /** Commits go one after the other: a snapshot must hold every record that stands before it. */
  let last: Promise<unknown> = Promise.resolve();
  let inFlight = 0;
  let puts = 0;

  const commitNow = async (
    records: readonly SessionRecord[],
    more: readonly Op[],
  ): Promise<"ok" | "duplicate"> => {
    const ops: Op[] = [...more];
    for (const record of records) ops.push({ op: "append", record: record as unknown as JsonObject });
    const last = records.at(-1);
    // A turn that is to be retried stays in the WAL whole: what rides along then goes into the midst of it.
    const ending = last?.t === "turn_ended" && !last.retry;
    const due = ending && sinceSnapshot + records.length >= SNAPSHOT_EVERY;
    if (due || records.some((record) => LISTED.has(record.t))) {
      const after = withRecords(state, records);
      ops.push({ op: "status", status: sessionStatus(after, cap) });
      if (due) {
        const history = state.history.slice(kept).concat(after.history) as unknown as JsonObject[];
        ops.push({ op: "snapshot", body: snapshotBody(after), history });
      }
    }
    const result = await store.commit({ session, epoch, ops });
    if (result.status === "fenced") {
      audit.emit("session_halted", session, { reason: "another owner has taken the session" });
      throw new ReynError("E_ALREADY_RUNNING", `session ${session} was taken over by another process`);
    }
    if (result.status === "duplicate") return "duplicate";
    for (const record of records) {
      apply(state, record);
      if (record.t !== "suspended") continue;
      audit.emit("session_halted", session, { reason: `hook ${record.hook} failed with on_error: suspend` });
    }
    sinceSnapshot += records.length;
    if (due) {
      sinceSnapshot = 0;
      kept = state.history.length;
    }
    puts += result.puts.length;
    const put = more.filter((op) => op.op === "put");
    for (const [index, outcome] of result.puts.entries()) {
      const target = put[index]?.session ?? session;
      if (outcome.status === "stored" && target !== session) {
        routed(target, put[index]?.message.wake ?? false);
      }
      if (outcome.status === "stored" && outcome.dropped.length > 0) {
        audit.emit("inbox_dropped", target, {
          ids: outcome.dropped,
          reason: "inbox full of passive messages",
        });
      }
      if (outcome.status === "full") {
        const reason = target === session ? "inbox full" : `the inbox of ${target} is full`;
        audit.emit("inbox_refused", target, { kind: "hook", reason: "inbox full" });
        observe({ type: "inbox_refused", kind: "hook", reason });
      }
    }
    return "ok";
  };

  return {
    state,
    async history() {
      if (!whole) {
        const older = await olderHistory(store, session);
        kept += older.length;
        state.history = older.concat(state.history);
        whole = true;
      }
      return state.history;
    },
    get puts() {
      return puts;
    },
    async commit(records, more = []) {
      const before = last;
      const waits = inFlight > 0;
      inFlight += 1;
      const done = waits ? before.then(() => commitNow(records, more)) : commitNow(records, more);
      last = done.catch(() => {});
      try {
        return await done;
      } finally {
        inFlight -= 1;
      }
    },
  };
}

/** The state as it will be; of the history, what the records add at its end. */
function withRecords(state: SessionState, records: readonly SessionRecord[]): SessionState {
  const after: SessionState = { ...state, current: state.current && { ...state.current }, history: [] };
  for (const record of records) apply(after, record);
  return after;
}
