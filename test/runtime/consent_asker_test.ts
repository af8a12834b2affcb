import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { operatorStamp } from "../../src/consent/operator_secret.ts";
import type { ConsentQuestion } from "../../src/consent/question.ts";
import { createInterventions } from "../../src/interventions/interventions.ts";
import type { KeptQuestion, QuestionStore } from "../../src/interventions/question_store.ts";
import { consentAsker } from "../../src/runtime/interventions.ts";

const FIRING = {
  session: "default/main",
  point: "turn_end",
  firingId: "default/main/1/turn_end/startup:x",
  payload: {},
};
const CONSENT: ConsentQuestion = {
  title: "Shell hook x wants to run a command",
  command: "/bin/true",
  digest: "0".repeat(64),
  details: [],
  changes: [],
  choices: [{ answer: "A", label: "always" }, { answer: "y", label: "yes" }, { answer: "n", label: "no" }],
};

/** The store of a project, in memory. */
function projectStore(): QuestionStore & { kept: KeptQuestion[] } {
  const kept: KeptQuestion[] = [];
  const find = (id: string) => kept.find(({ question }) => question.id === id);
  return {
    kept,
    async ask(question) {
      if (find(question.id)) return "known";
      kept.push({ question, askedAt: 1, answer: null });
      return "stored";
    },
    async answer(id, answer) {
      const row = find(id);
      if (!row) return "unknown";
      if (row.answer) return "answered";
      row.answer = answer;
      return "stored";
    },
    settle: async () => {},
    list: async () => [...kept],
  };
}

describe("a question of consent in the store of a project", () => {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "reyn-asker-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** Asks as the operator of a home does; answers `n` to whatever is shown. */
  const ask = async (store: QuestionStore, home: string) => {
    const shown: string[] = [];
    const interventions = createInterventions({ store, clock: virtualClock(), record: () => {} });
    interventions.attach({
      name: "terminal",
      rank: "terminal",
      show({ question }) {
        shown.push(question.id);
        void interventions.answer(question.id, "n", "terminal");
        return () => {};
      },
    });
    const stamp = operatorStamp(join(root, home, "question-key"));
    const asker = consentAsker({
      interventions,
      stopping: new AbortController().signal,
      stamp,
      left: new Set(),
    })(FIRING);
    assert.ok(asker);
    return { answer: await asker.ask(CONSENT), shown };
  };

  it("that was answered before a crash is not asked again", async () => {
    const store = projectStore();
    const { shown } = await ask(store, "operator");
    assert.equal(shown.length, 1);
    const [row] = store.kept;
    assert.ok(row);
    row.answer = { answer: "y", by: "terminal" };
    assert.deepEqual(await ask(store, "operator"), { answer: "y", shown: [] });
  });

  it("that came with the project is asked all the same, whatever answer came with it", async () => {
    const shipped = projectStore();
    await ask(shipped, "sender");
    const [row] = shipped.kept;
    assert.ok(row);
    row.answer = { answer: "A", by: "terminal" };
    for (const id of [row.question.id, `consent:${FIRING.firingId}:${CONSENT.digest}`]) {
      const store = projectStore();
      store.kept.push({ ...row, question: { ...row.question, id } });
      const { answer, shown } = await ask(store, "operator");
      assert.equal(answer, "n");
      assert.equal(shown.length, 1);
    }
  });
});
