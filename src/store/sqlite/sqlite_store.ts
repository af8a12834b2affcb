import type { ClaimResult, CommitResult, PutOutcome, Store } from "../store.ts";
import { applyCommit } from "./committing.ts";
import type { Database } from "./database.ts";
import { encodeMessage, encodeOp, encodeQuestion, sizeOf } from "./encoding.ts";
import { forgetIds } from "./forgetting.ts";
import type { GroupCommit } from "./group_commit.ts";
import { putMessage } from "./inbox.ts";
import { fromText, toText } from "./odd_text.ts";
import { applyClaim, applyRelease, applyRenew } from "./ownership.ts";
import { applyAnswer, askWithin } from "./questions.ts";
import { type Reading, reading } from "./reading.ts";
import { rowOf, saveRow } from "./rows.ts";
import { truncateWal } from "./truncating.ts";

export function sqliteStore(
  database: Database,
  commits: GroupCommit,
  killPoint: (label: string) => void,
): Store {
  let closing: Promise<void> | undefined;
  return {
    ...reading(database),

    async claim(session, owner, leaseMs): Promise<ClaimResult> {
      const [id, name] = [toText(session), toText(owner)];
      return await commits.submit(0, (tx) => {
        const value = applyClaim(tx, id, name, leaseMs);
        return { keep: value.status === "claimed", value };
      });
    },

    async renew(held, leaseMs) {
      const asked = held.map(({ session, epoch }) => ({ session: toText(session), epoch }));
      const standing = await commits.submit(0, (tx) => ({
        keep: true,
        value: asked.filter(({ session, epoch }) => applyRenew(tx, session, epoch, leaseMs)),
      }));
      return standing.map(({ session, epoch }) => ({ session: fromText(session), epoch }));
    },

    async release(session, epoch) {
      const id = toText(session);
      await commits.submit(0, (tx) => {
        applyRelease(tx, id, epoch);
        return { keep: true, value: undefined };
      });
    },

    async commit({ session, epoch, ops }): Promise<CommitResult> {
      const commit = { session: toText(session), epoch, ops: ops.map(encodeOp) };
      const size = commit.ops.reduce((sum, op) => sum + sizeOf(op), 0);
      const result = await commits.submit<CommitResult>(size, (tx) => {
        const value = applyCommit(tx, commit);
        return { keep: value.status === "ok", value };
      }, (value) => {
        if (value.status === "ok") database.ledger.committed(commit.session, value.walSeq);
      });
      return result;
    },

    async put(session, message): Promise<PutOutcome> {
      const id = toText(session);
      const encoded = encodeMessage(message);
      return await commits.submit(encoded.body.length, (tx) => {
        const row = rowOf(tx, id);
        const value = putMessage(tx, row, encoded);
        const keep = value.status === "stored";
        if (keep) saveRow(tx, row);
        return { keep, value };
      });
    },

    async ask(session, question) {
      const [id, encoded] = [toText(session), encodeQuestion(question)];
      return await commits.submit(encoded.body.length, (tx) => {
        const value = askWithin(tx, id, encoded);
        return { keep: value === "stored", value };
      });
    },

    async answer(id, text, by) {
      const [question, answer, surface] = [toText(id), toText(text), toText(by)];
      return await commits.submit(answer.length, (tx) => {
        const value = applyAnswer(tx, question, answer, surface);
        return { keep: value === "stored", value };
      });
    },

    async settle(id) {
      const question = toText(id);
      await commits.submit(0, ({ statements }) => {
        const { changes } = statements.questionDrop.run(question);
        return { keep: changes !== 0, value: undefined };
      });
    },

    truncate: (session) => truncateWal(database, commits, session, killPoint),
    forget: (options) => forgetIds(database, commits, options, killPoint),

    close() {
      return closing ??= commits.drain().finally(() => database.close());
    },
  };
}

/** The store of a folder that has none, or of one opened for reading: what is written is refused. */
export function readOnlyStore(read: Reading, close: () => void): Store {
  const refuse = (): Promise<never> =>
    Promise.reject(new TypeError("this store was opened for reading only"));
  return {
    ...read,
    claim: refuse,
    renew: refuse,
    release: refuse,
    commit: refuse,
    put: refuse,
    ask: refuse,
    answer: refuse,
    settle: refuse,
    truncate: refuse,
    forget: refuse,
    async close() {
      close();
    },
  };
}

export const NOTHING_TO_READ: Reading = {
  pending: async () => [],
  snapshot: async () => undefined,
  async *history() {},
  async *records() {},
  questions: async () => [],
  session: async () => undefined,
  sessions: async () => [],
  truncatable: async () => 0,
  totals: async () => ({ sessions: 0, waking: 0, passive: 0, bytes: 0, oldestWakingAt: null }),
};
