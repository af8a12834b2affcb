import { afterEach, beforeEach } from "node:test";
import assert from "node:assert/strict";
import type {
  CommitResult,
  InboxLimits,
  InboxMessage,
  JsonObject,
  Op,
  Store,
  WalRecord,
} from "../../src/store/store.ts";

/** A store under test, empty at first. */
export interface Subject {
  store: Store;
  /** Closes the store and opens the same data again. */
  reopen(): Promise<Store>;
  /** Lets this much time pass on the clock that leases go by. */
  advance(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

export type MakeSubject = (options: { limits?: InboxLimits }) => Promise<Subject>;

export const A = "default/a";
export const B = "default/b";
export const LEASE_MS = 60_000;

/** A fresh store for every test of the `describe` that calls this, and short words for its calls. */
export interface Bench {
  readonly store: Store;
  reopen(): Promise<void>;
  advance(ms: number): Promise<void>;
  commit(session: string, epoch: number, ...ops: Op[]): Promise<CommitResult>;
  claimed(session: string, owner?: string): Promise<number>;
  pendingIds(session: string): Promise<string[]>;
  records(session: string, after?: number): Promise<WalRecord[]>;
}

export function bench(makeSubject: MakeSubject, limits?: InboxLimits): Bench {
  let subject: Subject | undefined;
  const store = () => {
    if (!subject) throw new Error("the store is made before each test");
    return subject.store;
  };
  beforeEach(async () => {
    subject = await makeSubject(limits ? { limits } : {});
  });
  afterEach(async () => await subject?.dispose());
  return {
    get store() {
      return store();
    },
    async reopen() {
      await subject?.reopen();
    },
    async advance(ms) {
      await subject?.advance(ms);
    },
    commit: (session, epoch, ...ops) => store().commit({ session, epoch, ops }),
    async claimed(session, owner = "one") {
      const answer = await store().claim(session, owner, LEASE_MS);
      assert.equal(answer.status, "claimed");
      return answer.status === "claimed" ? answer.epoch : 0;
    },
    pendingIds: async (session) => (await store().pending(session, 100)).map(({ id }) => id),
    records: (session, after = 0) => collect(store().records(session, after)),
  };
}

export function message(id: string): InboxMessage {
  return { id, kind: "user", wake: true, body: { text: id } };
}

export function passive(id: string): InboxMessage {
  return { ...message(id), wake: false };
}

export function record(text: string): Op {
  return { op: "append", record: { text } };
}

export function consume(...ids: string[]): Op {
  return { op: "consume", ids };
}

export async function collect<T extends JsonObject | WalRecord>(batches: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}
