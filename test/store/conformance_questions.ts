import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOST_QUESTIONS, type Question } from "../../src/store/store.ts";
import { A, B, bench, type MakeSubject, record } from "./conformance_bench.ts";

const question = (id: string): Question => ({ id, kind: "consent", body: { title: "may it? \ud800" } });

/** Questions to people, as any adapter keeps them. */
export function questionsConform(name: string, makeSubject: MakeSubject): void {
  describe(`${name}: questions`, () => {
    const on = bench(makeSubject);
    const ids = async (session?: string) => (await on.store.questions(session)).map(({ id }) => id);

    it("keeps a question as it was asked, over a restart, until it is settled", async () => {
      assert.equal(await on.store.ask(A, question("q")), "stored");
      await on.reopen();
      const [{ askedAt, ...rest } = { askedAt: 0 }] = await on.store.questions();
      assert.ok(askedAt > 0);
      assert.deepEqual(rest, { ...question("q"), session: A, answer: null });
      await on.store.settle("q");
      await on.reopen();
      assert.deepEqual(await on.store.questions(), []);
    });

    it("keeps one of each id, the first, and lists them in order of asking, by session too", async () => {
      for (const id of ["z", "a"]) await on.store.ask(A, question(id));
      await on.store.ask(B, question("m"));
      assert.equal(await on.store.ask(B, { ...question("a"), body: {} }), "known");
      assert.deepEqual(await ids(), ["z", "a", "m"]);
      assert.deepEqual(await ids(A), ["z", "a"]);
      assert.deepEqual((await on.store.questions(A)).at(-1)?.body, question("a").body);
    });

    it("takes one answer, whoever comes first, and keeps it over a restart", async () => {
      await on.store.ask(A, question("q"));
      const told = await Promise.all(["y", "n", "A"].map((text) => on.store.answer("q", text, `by ${text}`)));
      assert.deepEqual(told.toSorted(), ["answered", "answered", "stored"]);
      const winner = ["y", "n", "A"][told.indexOf("stored")];
      await on.reopen();
      const [row] = await on.store.questions();
      assert.deepEqual([row?.answer?.text, row?.answer?.by], [winner, `by ${winner}`]);
      assert.equal(await on.store.answer("q", "n", "late"), "answered");
      assert.equal(await on.store.answer("other", "n", "x"), "unknown");
    });

    it("asks and settles with the commit, or not at all", async () => {
      const epoch = await on.claimed(A);
      await on.commit(A, epoch, record("r"), { op: "ask", question: question("q") });
      assert.deepEqual(await ids(A), ["q"]);
      const late = await on.commit(A, epoch - 1, { op: "settle", question: "q" });
      assert.equal(late.status, "fenced");
      const twice = await on.commit(A, epoch, { op: "settle", question: "q" }, {
        op: "consume",
        ids: ["nothing"],
      });
      assert.equal(twice.status, "duplicate");
      assert.deepEqual(await ids(A), ["q"]);
      await on.commit(A, epoch, { op: "ask", question: question("q") }, { op: "settle", question: "q" });
      assert.deepEqual(await ids(), []);
    });

    it("lets one session have so many and no more", async () => {
      for (let n = 0; n < MOST_QUESTIONS; n++) await on.store.ask(A, question(`q${n}`));
      assert.equal(await on.store.ask(A, question("more")), "full");
      assert.equal(await on.store.ask(B, question("more")), "stored");
      await on.store.settle("q0");
      assert.equal(await on.store.ask(A, question("again")), "stored");
    });
  });
}
