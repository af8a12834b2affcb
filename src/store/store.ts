/**
 * The store port. Everything that must survive a crash goes through it. A session is written by one owner at a
 * time: `claim` gives the owner an epoch, every commit names it, and a commit with an older epoch is `fenced`.
 * A commit is data, applied whole or not at all, and durable when its promise resolves. When a call is rejected with
 * E_STATE_FULL nothing of it is stored; with E_STATE_IO its outcome is unknown, as after a crash, and the caller reads again.
 *
 * Values (`JsonObject`) are plain JSON; strings may hold any UTF-16, lone surrogates included, and come back equal.
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface InboxMessage {
  /** Unique per session until it is forgotten: a second put of the same id is a `duplicate`. */
  id: string;
  kind: string;
  /** A waking message starts a turn; a passive one waits for the next. */
  wake: boolean;
  body: JsonObject;
  /**
   * Of what the message says, below 2^53, where somebody outside has chosen the id: a second put of the same id with another
   * digest is a `conflict`. Kept as long as the id.
   */
  digest?: number;
  /**
   * It comes from outside. Waking messages of inside share their places with those that were made passive, so that these do not
   * grow without end; one from outside finds room beside them, for it is what lets them go. Not kept.
   */
  outside?: boolean;
}

export interface InboxRow extends InboxMessage {
  /** Order of arrival within the store. */
  seq: number;
}

export interface WalRecord {
  /** 1, 2, 3 … within the session, without a gap. */
  seq: number;
  record: JsonObject;
}

export type PutOutcome =
  | { status: "stored"; /** Ids of passive messages dropped to make room, oldest first. */ dropped: string[] }
  | { status: "duplicate" }
  /** Nothing stored: the id is known, of a message with another digest. */
  | { status: "conflict" }
  /** Nothing stored: the inbox holds as many waking messages, or bytes, as it may. */
  | { status: "full" };

export type Op =
  /** Appends one WAL record. */
  | { op: "append"; record: JsonObject }
  /** Marks unconsumed inbox messages as consumed; one that is not there unconsumed makes the commit a `duplicate`. */
  | { op: "consume"; ids: readonly string[] }
  /**
   * Makes waking messages passive; ids that are no longer unconsumed are passed over. Such a message is never dropped to
   * make room.
   */
  | { op: "demote"; ids: readonly string[] }
  /** Puts a message into any session's inbox, creating that session's row where there is none. */
  | { op: "put"; session: string; message: InboxMessage }
  /** State as of the last record appended so far (in this commit or before), and the history made since the last snapshot. */
  | { op: "snapshot"; body: JsonObject; history: readonly JsonObject[] }
  /** What listings show of the session: a small object, kept with its row. */
  | { op: "status"; status: JsonObject }
  /** Keeps a question of this session; one whose id is known already is passed over. */
  | { op: "ask"; question: Question }
  /** Forgets a question, whether it was answered or not: what it asked about is settled. */
  | { op: "settle"; question: string };

export interface Commit {
  session: string;
  epoch: number;
  ops: readonly Op[];
}

export type CommitResult =
  /** `puts` answers the put ops in their order; `walSeq` is the session's last record. */
  | { status: "ok"; walSeq: number; puts: PutOutcome[] }
  | { status: "fenced" }
  | { status: "duplicate" };

export type ClaimResult =
  /** `created`: nobody ever owned the session before, whether or not a put has made its row. */
  | { status: "claimed"; epoch: number; created: boolean }
  /** Another owner's lease has not run out. */
  | { status: "held"; owner: string; leaseUntil: number };

/** What a person is to answer. Kept until it is settled. */
export interface Question {
  /** Unique in the store. */
  id: string;
  kind: string;
  body: JsonObject;
}

export interface QuestionRow extends Question {
  session: string;
  askedAt: number;
  /** Null while nobody has answered. `by` names the surface that the answer came from. */
  answer: { text: string; by: string; at: number } | null;
}

export interface SessionRow {
  id: string;
  owner: string | null;
  epoch: number;
  walSeq: number;
  status: JsonObject;
  createdAt: number;
  updatedAt: number;
  /** Unconsumed messages. */
  waking: number;
  passive: number;
}

export interface Snapshot {
  uptoSeq: number;
  body: JsonObject;
}

export interface StoreTotals {
  sessions: number;
  /** Unconsumed messages. */
  waking: number;
  passive: number;
  /** Of their bodies. */
  bytes: number;
  /** When the oldest waking one was accepted, epoch milliseconds; null where there is none. */
  oldestWakingAt: number | null;
}

export interface SessionPage {
  after: string;
  limit: number;
  /** Leaves out those without waking messages whose status says `attention: false`. */
  ofNote?: boolean;
}

export interface Store {
  /**
   * Takes ownership for `leaseMs`. Succeeds when the session is new, free, its lease has run out, or it is held by
   * the same `owner`; each success raises the epoch by one.
   */
  claim(session: string, owner: string, leaseMs: number): Promise<ClaimResult>;
  /**
   * Extends exactly these holdings; answers those that still stand: not released and not taken by another owner, even when
   * the lease ran out meanwhile.
   */
  renew(
    held: readonly { session: string; epoch: number }[],
    leaseMs: number,
  ): Promise<{ session: string; epoch: number }[]>;
  /** Gives ownership up if the epoch is still the current one; commits of that epoch are `fenced` from then on. */
  release(session: string, epoch: number): Promise<void>;

  commit(commit: Commit): Promise<CommitResult>;
  /** Puts a message from outside any turn; needs no ownership. Durable when resolved. */
  put(session: string, message: InboxMessage): Promise<PutOutcome>;

  /** Unconsumed messages in order of arrival. */
  pending(session: string, limit: number): Promise<InboxRow[]>;
  /** Newest snapshot, if any. */
  snapshot(session: string): Promise<Snapshot | undefined>;
  /** History kept by snapshots, oldest first. */
  history(session: string): AsyncIterable<JsonObject[]>;
  /** WAL records after `afterSeq`, in order, in batches, as far as there are any when it is called. */
  records(session: string, afterSeq: number): AsyncIterable<WalRecord[]>;

  /** Keeps a question; needs no ownership. `full`: the session has as many as it may. Durable when resolved. */
  ask(session: string, question: Question): Promise<"stored" | "known" | "full">;
  /** The first answer counts: of several callers one is told `stored`. Durable when resolved. */
  answer(id: string, text: string, by: string): Promise<"stored" | "answered" | "unknown">;
  settle(id: string): Promise<void>;
  /** Of one session, or of all, in the order in which they were asked. */
  questions(session?: string): Promise<QuestionRow[]>;

  session(id: string): Promise<SessionRow | undefined>;
  /** In order of id; with `page` only so many, and only those whose id comes after that one. */
  sessions(page?: SessionPage): Promise<SessionRow[]>;

  /** Removes WAL records up to the newest snapshot; answers how many. */
  truncate(session: string): Promise<number>;
  /** How many records `truncate` would remove. */
  truncatable(session: string): Promise<number>;
  /**
   * Forgets ids of consumed or dropped messages, the oldest first, as long as they were accepted before `acceptedBefore` (epoch
   * milliseconds) and `keep` is false: from then on a put of the same id is stored. With `dry` nothing changes. Answers how many.
   */
  forget(
    options: { acceptedBefore: number; keep: (id: string) => boolean; dry?: boolean },
  ): Promise<number>;
  /** Over all sessions. */
  totals(): Promise<StoreTotals>;
  /** Waits for what was handed in, then closes. Further calls are refused. */
  close(): Promise<void>;
}

/** Of one session; 0 is no limit. */
export interface InboxLimits {
  waking: number;
  /** Counts what was made passive too. */
  passive: number;
  /** Bytes of all unconsumed bodies of one session, as JSON in UTF-8. */
  bytes: number;
}

export const DEFAULT_INBOX_LIMITS: InboxLimits = { waking: 1000, passive: 1000, bytes: 256 * 1024 * 1024 };

/** Questions that one session may have waiting. */
export const MOST_QUESTIONS = 100;
