import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type HeldOutput, heldOutput } from "../../src/cli/held_output.ts";
import { askOnTerminal } from "../../src/cli/terminal_questions.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { createInterventions, type Interventions } from "../../src/interventions/interventions.ts";
import type { Question } from "../../src/interventions/question.ts";
import type { Answer, QuestionStore } from "../../src/interventions/question_store.ts";

const question = (id: string): Question => ({
  id,
  session: "default/main",
  kind: "consent",
  title: `Question ${id}`,
  lines: [],
  choices: [
    { answer: "A", label: "always" },
    { answer: "y", label: "yes, this once" },
    { answer: "n", label: "no", refusal: true },
  ],
});

function memoryStore(): QuestionStore {
  const kept = new Map<string, { question: Question; askedAt: number; answer: Answer | null }>();
  return {
    async ask(one) {
      if (kept.has(one.id)) return "known";
      kept.set(one.id, { question: one, askedAt: 0, answer: null });
      return "stored";
    },
    async answer(id, answer) {
      const row = kept.get(id);
      if (!row || row.answer) return row ? "answered" : "unknown";
      row.answer = answer;
      return "stored";
    },
    settle: async (id) => void kept.delete(id),
    list: async () => [...kept.values()],
  };
}

describe("questions on a terminal", () => {
  let input: PassThrough;
  let screen: string;
  let output: HeldOutput;
  let queue: Interventions;
  let detach: () => void;
  let foreground: boolean;
  beforeEach(() => {
    input = new PassThrough();
    screen = "";
    output = heldOutput();
    foreground = true;
    queue = createInterventions({ store: memoryStore(), clock: systemClock, record: () => {} });
    detach = askOnTerminal({
      interventions: queue,
      input,
      write: (text) => void (screen += text),
      output,
      clock: systemClock,
      inForeground: () => foreground,
    });
  });
  afterEach(() => detach());

  const shown = async (text: string) => {
    for (let tries = 0; tries < 200 && !screen.includes(text); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(screen.includes(text), screen);
  };

  for (
    const [typed, answer] of [
      ["A", "A"],
      ["a", "A"],
      ["always", "A"],
      ["Y", "y"],
      ["yes", "y"],
      ["n", "n"],
      ["", "n"],
      ["yep", "n"],
      ["\u001b[A", "n"],
    ] as const
  ) {
    it(`takes ${JSON.stringify(typed)} for ${answer}`, async () => {
      const reply = queue.ask(question("q"));
      await shown("Question q");
      input.write(`${typed}\n`);
      assert.deepEqual(await reply, { status: "answered", answer, by: "terminal" });
    });
  }

  it("takes nothing for an answer that was typed before the question stood there", async () => {
    input.write("A\nA\n");
    const reply = queue.ask(question("q"));
    await shown("Question q");
    input.write("n\n");
    assert.deepEqual(await reply, { status: "answered", answer: "n", by: "terminal" });
  });

  it("asks one question after the other, each with an answer of its own", async () => {
    const [one, two] = [queue.ask(question("1")), queue.ask(question("2"))];
    await shown("Question 1");
    input.write("y\ny\n");
    await shown("Question 2");
    input.write("n\n");
    assert.deepEqual([(await one).status, (await two).status], ["answered", "answered"]);
    assert.deepEqual(await two, { status: "answered", answer: "n", by: "terminal" });
  });

  it("refuses at the end of input, and from then on nobody is there to ask", async () => {
    const reply = queue.ask(question("q"));
    await shown("Question q");
    input.end();
    assert.deepEqual(await reply, { status: "answered", answer: "n", by: "terminal" });
    assert.deepEqual(await queue.ask(question("r")), { status: "nobody" });
  });

  it("is nobody while the terminal belongs to another job", async () => {
    foreground = false;
    assert.equal(queue.listening("default/main"), false);
    assert.deepEqual(await queue.ask(question("q")), { status: "nobody" });
    assert.equal(screen, "");
  });

  it("lets nothing be written between a question and its answer", async () => {
    const talk = output.writer((text) => void (screen += text));
    const reply = queue.ask(question("q"));
    await shown("Question q");
    const before = screen;
    talk("Question x\n");
    assert.equal(screen, before);
    input.write("n\n");
    await reply;
    await shown("Question x");
  });

  it("refuses when too much output waits behind a question, and writes all of it", async () => {
    const talk = output.writer((text) => void (screen += text));
    const reply = queue.ask(question("q"));
    await shown("Question q");
    for (let n = 0; n < 20; n++) talk("x".repeat(100_000));
    assert.deepEqual(await reply, { status: "answered", answer: "n", by: "terminal" });
    assert.ok(screen.split("x").length > 2_000_000);
  });
});
