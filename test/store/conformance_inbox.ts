import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InboxMessage, Op } from "../../src/store/store.ts";
import { A, B, bench, consume, type MakeSubject, message, passive, record } from "./conformance_bench.ts";

/** The inbox and its limits, as any adapter keeps them. */
export function inboxConforms(name: string, makeSubject: MakeSubject): void {
  describe(`${name}: inbox`, () => {
    const on = bench(makeSubject);

    it("gives messages back in order of arrival, as many as asked for", async () => {
      for (const id of ["z", "a", "m"]) await on.store.put(A, message(id));
      const pending = await on.store.pending(A, 10);
      assert.deepEqual(pending.map(({ id }) => id), ["z", "a", "m"]);
      assert.deepEqual(
        pending.map(({ seq }) => seq),
        pending.map(({ seq }) => seq).toSorted((x, y) => x - y),
      );
      assert.deepEqual((await on.store.pending(A, 2)).map(({ id }) => id), ["z", "a"]);
      assert.deepEqual(await on.store.pending(B, 10), []);
    });

    it("gives a message back as it was put", async () => {
      const put: InboxMessage = {
        id: "m",
        kind: "hook",
        wake: false,
        body: { text: "hi", meta: { n: [1, null, true] } },
      };
      await on.store.put(A, put);
      const [{ seq, ...rest } = { seq: 0 }] = await on.store.pending(A, 10);
      assert.ok(seq > 0);
      assert.deepEqual(rest, put);
    });

    it("stores an id once a session, consumed or not, and the same id in another session", async () => {
      const epoch = await on.claimed(A);
      assert.deepEqual(await on.store.put(A, message("m")), { status: "stored", dropped: [] });
      assert.deepEqual(await on.store.put(A, { ...message("m"), body: { text: "other" } }), {
        status: "duplicate",
      });
      assert.equal((await on.store.put(B, message("m"))).status, "stored");
      await on.commit(A, epoch, consume("m"));
      assert.deepEqual(await on.store.put(A, message("m")), { status: "duplicate" });
      assert.deepEqual(await on.store.pending(A, 10), []);
      await on.reopen();
      assert.deepEqual(await on.store.put(A, message("m")), { status: "duplicate" });
    });

    it("tells an id that is put again with another digest from a repetition, consumed, full or not", async () => {
      const said = (id: string, digest?: number) => ({
        ...message(id),
        ...(digest === undefined ? {} : { digest }),
      });
      const epoch = await on.claimed(A);
      await on.store.put(A, said("m", 2 ** 48 - 1));
      await on.store.put(A, said("plain"));
      const again = async () => ({
        same: (await on.store.put(A, said("m", 2 ** 48 - 1))).status,
        other: (await on.store.put(A, said("m", 7))).status,
        without: (await on.store.put(A, said("m"))).status,
        unknown: (await on.store.put(A, said("plain", 7))).status,
      });
      const right = { same: "duplicate", other: "conflict", without: "duplicate", unknown: "duplicate" };
      assert.deepEqual(await again(), right);
      await on.commit(A, epoch, consume("m"));
      assert.deepEqual(await again(), right);
      await on.reopen();
      assert.deepEqual(await again(), right);
      for (let n = 0; (await on.store.put(A, message(`fill${n}`))).status === "stored";) n++;
      assert.deepEqual(await again(), right);
      assert.equal((await on.store.put(B, said("m", 7))).status, "stored");
    });

    it("makes waking messages passive in their place, and passes over the rest", async () => {
      const epoch = await on.claimed(A);
      for (const id of ["m1", "m2", "m3"]) await on.store.put(A, message(id));
      await on.commit(A, epoch, consume("m3"));
      const answer = await on.commit(A, epoch, { op: "demote", ids: ["m1", "m3", "nothing", "m1"] });
      assert.equal(answer.status, "ok");
      assert.deepEqual((await on.store.pending(A, 10)).map(({ id, wake }) => [id, wake]), [["m1", false], [
        "m2",
        true,
      ]]);
      const row = await on.store.session(A);
      assert.deepEqual([row?.waking, row?.passive], [1, 1]);
      assert.equal((await on.commit(A, epoch, consume("m1", "m2"))).status, "ok");
      const after = await on.store.session(A);
      assert.deepEqual([after?.waking, after?.passive], [0, 0]);
    });
  });

  describe(`${name}: inbox limits`, () => {
    const on = bench(makeSubject, { waking: 2, passive: 2, bytes: 400 });

    it("refuses a waking message beyond the limit and stores nothing", async () => {
      const epoch = await on.claimed(A);
      await on.store.put(A, message("m1"));
      await on.store.put(A, message("m2"));
      assert.deepEqual(await on.store.put(A, message("m3")), { status: "full" });
      assert.deepEqual(await on.store.put(A, message("m1")), { status: "duplicate" });
      assert.deepEqual(await on.pendingIds(A), ["m1", "m2"]);
      await on.commit(A, epoch, consume("m1"));
      assert.equal((await on.store.put(A, message("m3"))).status, "stored");
    });

    it("drops the oldest passive message for a new one, says which, and never takes its id again", async () => {
      await on.store.put(A, message("waking"));
      await on.store.put(A, passive("p1"));
      await on.store.put(A, passive("p2"));
      assert.deepEqual(await on.store.put(A, passive("p3")), { status: "stored", dropped: ["p1"] });
      assert.deepEqual(await on.pendingIds(A), ["waking", "p2", "p3"]);
      assert.deepEqual(await on.store.put(A, passive("p1")), { status: "duplicate" });
      assert.deepEqual(await on.store.put(A, passive("p2")), { status: "duplicate" });
      assert.equal((await on.store.session(A))?.passive, 2);
    });

    it("never drops a message that once was waking: a passive one is refused instead", async () => {
      const epoch = await on.claimed(A);
      await on.store.put(A, message("m1"));
      await on.store.put(A, message("m2"));
      await on.store.put(A, passive("p1"));
      await on.commit(A, epoch, { op: "demote", ids: ["m1", "m2"] });
      assert.deepEqual(await on.store.put(A, passive("p2")), { status: "full" });
      assert.deepEqual(await on.pendingIds(A), ["m1", "m2", "p1"]);
      await on.commit(A, epoch, consume("m1"));
      assert.deepEqual(await on.store.put(A, passive("p2")), { status: "stored", dropped: ["p1"] });
    });

    it("counts waking messages together with those that were made passive, but for one from outside", async () => {
      const epoch = await on.claimed(A);
      await on.store.put(A, message("m1"));
      await on.store.put(A, message("m2"));
      await on.commit(A, epoch, { op: "demote", ids: ["m1", "m2"] });
      assert.deepEqual(await on.store.put(A, message("m3")), { status: "full" });
      const outside = (id: string) => ({ ...message(id), outside: true });
      assert.equal((await on.store.put(A, outside("o1"))).status, "stored");
      assert.equal((await on.store.put(A, outside("o2"))).status, "stored");
      assert.deepEqual(await on.store.put(A, outside("o3")), { status: "full" });
      assert.deepEqual(await on.pendingIds(A), ["m1", "m2", "o1", "o2"]);
      await on.commit(A, epoch, consume("m1", "o1"));
      assert.deepEqual(await on.store.put(A, message("m3")), { status: "full" });
      await on.commit(A, epoch, consume("m2", "o2"));
      assert.equal((await on.store.put(A, message("m3"))).status, "stored");
    });

    it("takes one from outside also where messages from inside have used up the bytes", async () => {
      await on.store.put(A, { ...message("m1"), body: { text: "x".repeat(350) } });
      assert.deepEqual(await on.store.put(A, { ...message("m2"), body: { text: "x".repeat(100) } }), {
        status: "full",
      });
      const outside = (id: string) => ({ ...message(id), outside: true, body: { text: "x".repeat(100) } });
      assert.equal((await on.store.put(A, outside("o1"))).status, "stored");
      const larger = { ...outside("o2"), body: { text: "x".repeat(400) } };
      assert.deepEqual(await on.store.put(A, larger), { status: "full" });
    });

    it("refuses a waking message beyond the bytes", async () => {
      await on.store.put(A, { ...message("m1"), body: { text: "x".repeat(300) } });
      assert.deepEqual(await on.store.put(A, { ...message("m2"), body: { text: "x".repeat(100) } }), {
        status: "full",
      });
      assert.equal((await on.store.put(A, message("m2"))).status, "stored");
    });

    it("counts bytes as UTF-8 of the JSON", async () => {
      const body = { text: "é".repeat(195) };
      assert.equal(Buffer.byteLength(JSON.stringify(body)), 401);
      assert.deepEqual(await on.store.put(A, { ...message("m"), body }), { status: "full" });
      assert.equal(
        (await on.store.put(A, { ...message("m"), body: { text: "é".repeat(194) } })).status,
        "stored",
      );
    });

    it("drops as many passive messages as the bytes of a new one need, and none for one that can never fit", async () => {
      const large = (id: string, length: number) => ({ ...passive(id), body: { text: "x".repeat(length) } });
      await on.store.put(A, large("p1", 150));
      await on.store.put(A, large("p2", 150));
      assert.deepEqual(await on.store.put(A, large("p3", 500)), { status: "full" });
      assert.deepEqual(await on.pendingIds(A), ["p1", "p2"]);
      assert.deepEqual(await on.store.put(A, large("p3", 380)), { status: "stored", dropped: ["p1", "p2"] });
    });

    it("lets a commit whose put finds the inbox full go through, and tells", async () => {
      const a = await on.claimed(A);
      for (const id of ["m1", "m2"]) await on.store.put(B, message(id));
      const put = (id: string): Op => ({ op: "put", session: B, message: message(id) });
      const answer = await on.commit(A, a, record("x"), put("m3"), {
        op: "put",
        session: B,
        message: passive("p"),
      });
      assert.deepEqual(answer, {
        status: "ok",
        walSeq: 1,
        puts: [{ status: "full" }, { status: "stored", dropped: [] }],
      });
      assert.deepEqual(await on.pendingIds(B), ["m1", "m2", "p"]);
    });

    it("counts what the same commit consumed as gone", async () => {
      const epoch = await on.claimed(A);
      for (const id of ["m1", "m2"]) await on.store.put(A, message(id));
      const answer = await on.commit(A, epoch, consume("m1"), {
        op: "put",
        session: A,
        message: message("m3"),
      });
      assert.deepEqual(answer, { status: "ok", walSeq: 0, puts: [{ status: "stored", dropped: [] }] });
    });
  });

  describe(`${name}: an inbox without limits`, () => {
    const on = bench(makeSubject, { waking: 0, passive: 0, bytes: 0 });

    it("takes 0 for no limit", async () => {
      for (const id of ["m1", "m2"]) assert.equal((await on.store.put(A, message(id))).status, "stored");
      assert.equal((await on.store.put(A, passive("p"))).status, "stored");
    });
  });
}
