import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { type VirtualClock, virtualClock } from "../../src/clock/virtual_clock.ts";
import {
  ANSWER_LIMIT_MS,
  createInterventions,
  type InterventionRecord,
  type Interventions,
  type Listener,
} from "../../src/interventions/interventions.ts";
import { choicesText, type Question, questionText } from "../../src/interventions/question.ts";
import type { KeptQuestion, QuestionStore } from "../../src/interventions/question_store.ts";

const question = (id = "q"): Question => ({
  id,
  session: "default/main",
  kind: "consent",
  title: "May it?",
  lines: [{ from: "reyn", text: "in: /srv" }],
  choices: [{ answer: "A", label: "always" }, { answer: "n", label: "no", refusal: true }],
});

/** Keeps questions in memory, as the embedded store keeps them on disk. */
function memoryStore(): QuestionStore & { kept: KeptQuestion[] } {
  const kept: KeptQuestion[] = [];
  const find = (id: string) => kept.find(({ question: one }) => one.id === id);
  return {
    kept,
    async ask(one) {
      if (find(one.id)) return "known";
      kept.push({ question: one, askedAt: 1, answer: null });
      return "stored";
    },
    async answer(id, answer) {
      const row = find(id);
      if (!row) return "unknown";
      if (row.answer) return "answered";
      row.answer = answer;
      return "stored";
    },
    async settle(id) {
      kept.splice(0, kept.length, ...kept.filter(({ question: one }) => one.id !== id));
    },
    list: async () => [...kept],
  };
}

/** A surface that only keeps what it is shown. */
function surface(name: string, rank: Listener["rank"] = "listener") {
  const shown: { id: string; gone: AbortSignal }[] = [];
  return {
    name,
    rank,
    shown,
    show: (one: Question, gone: AbortSignal) => void shown.push({ id: one.id, gone }),
  };
}

describe("interventions", () => {
  let store: ReturnType<typeof memoryStore>;
  let clock: VirtualClock;
  let records: InterventionRecord[];
  let queue: Interventions;
  const start = () => createInterventions({ store, clock, record: (record) => records.push(record) });
  const types = () => records.map(({ type }) => type);
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  beforeEach(() => {
    store = memoryStore();
    clock = virtualClock();
    records = [];
    queue = start();
  });

  it("answers at once that nobody is there, and lets no later answer count", async () => {
    assert.equal(queue.listening(), false);
    assert.deepEqual(await queue.ask(question()), { status: "nobody" });
    assert.equal(await queue.answer("q", "A", "late"), "answered");
    assert.deepEqual(types(), ["closed"]);
  });

  it("shows a question to every surface, takes the first answer, and tells the others that it is over", async () => {
    const [one, two] = [surface("chat"), surface("http:ci")];
    queue.attach(one);
    queue.attach(two);
    const reply = queue.ask(question());
    await settled();
    assert.deepEqual([one.shown.length, two.shown.length], [1, 1]);
    const told = await Promise.all([queue.answer("q", "A", "http:ci"), queue.answer("q", "n", "chat")]);
    assert.deepEqual(told, ["taken", "answered"]);
    assert.deepEqual(await reply, { status: "answered", answer: "A", by: "http:ci" });
    assert.equal(one.shown[0]?.gone.aborted, true);
    assert.deepEqual(types(), ["asked", "answered"]);
  });

  it("asks a terminal only where no other surface is attached, also once that one has left", async () => {
    const [terminal, chat] = [surface("terminal", "terminal"), surface("chat")];
    queue.attach(terminal);
    const leave = queue.attach(chat);
    const reply = queue.ask(question());
    await settled();
    assert.deepEqual([chat.shown.length, terminal.shown.length], [1, 0]);
    leave();
    assert.equal(terminal.shown.length, 1);
    await queue.answer("q", "n", "terminal");
    assert.deepEqual(await reply, { status: "answered", answer: "n", by: "terminal" });
  });

  it("does not wait for a surface that has left", async () => {
    const leave = queue.attach(surface("chat"));
    const reply = queue.ask(question());
    await settled();
    leave();
    assert.deepEqual(await reply, { status: "nobody" });
    assert.equal(queue.listening(), false);
  });

  it("shows what is open to a surface that comes later", async () => {
    queue.attach(surface("terminal", "terminal"));
    const reply = queue.ask(question());
    await settled();
    const late = surface("chat");
    queue.attach(late);
    assert.deepEqual(late.shown.map(({ id }) => id), ["q"]);
    await queue.answer("q", "n", "chat");
    await reply;
  });

  it("refuses when the time is over, and an answer after that does not count", async () => {
    queue.attach(surface("chat"));
    const reply = queue.ask(question());
    await clock.advance(ANSWER_LIMIT_MS - 1);
    assert.deepEqual(types(), ["asked"]);
    await clock.advance(1);
    assert.deepEqual(await reply, { status: "expired" });
    assert.equal(await queue.answer("q", "A", "chat"), "answered");
    assert.equal(clock.armed(), 0);
  });

  it("takes only answers that the question has", async () => {
    queue.attach(surface("chat"));
    const reply = queue.ask(question());
    await settled();
    assert.equal(await queue.answer("q", "yes please", "chat"), "not_a_choice");
    assert.equal(await queue.answer("other", "A", "chat"), "unknown");
    await queue.answer("q", "n", "chat");
    await reply;
  });

  it("keeps a question open that its session leaves, and has its answer after a restart", async () => {
    queue.attach(surface("chat"));
    const stopping = new AbortController();
    const reply = queue.ask(question(), { keep: true, signal: stopping.signal });
    await settled();
    stopping.abort();
    assert.deepEqual(await reply, { status: "withdrawn" });
    queue = start();
    assert.deepEqual((await queue.list()).map(({ answer }) => answer), [null]);
    assert.equal(await queue.answer("q", "A", "http:ci"), "taken");
    queue.attach(surface("chat"));
    assert.deepEqual(await queue.ask(question(), { keep: true }), {
      status: "answered",
      answer: "A",
      by: "http:ci",
    });
    await queue.settle("q");
    assert.deepEqual(await queue.list(), []);
  });

  it("closes a question that is withdrawn and is not to be kept", async () => {
    queue.attach(surface("chat"));
    const stopping = new AbortController();
    const reply = queue.ask(question(), { signal: stopping.signal });
    await settled();
    stopping.abort();
    assert.deepEqual(await reply, { status: "withdrawn" });
    assert.equal(await queue.answer("q", "A", "chat"), "answered");
  });
});

describe("questionText()", () => {
  it("marks each line that an agent wrote and lets nothing in it reach the terminal", () => {
    const text = questionText({
      ...question(),
      title: "May\u202e it?",
      lines: [{ from: "reyn", text: "in: /srv" }, { from: "agent", text: "fine\nShell hook x\x1b[2J wants" }],
    });
    assert.deepEqual(text.split("\n"), [
      "May\\u{202e} it?",
      "  in: /srv",
      "  the agent says: fine",
      "  the agent says: Shell hook x\\u{1b}[2J wants",
    ]);
    assert.equal(choicesText(question()), "[A] always  [n] no");
  });
});
