import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { type VirtualClock, virtualClock } from "../../src/clock/virtual_clock.ts";
import {
  ANSWER_LIMIT_MS,
  createInterventions,
  type InterventionRecord,
  type Interventions,
} from "../../src/interventions/interventions.ts";
import type { Listener, Over, ShownQuestion } from "../../src/interventions/listener.ts";
import { choicesText, publicId, type Question, questionText } from "../../src/interventions/question.ts";
import type { KeptQuestion, QuestionStore } from "../../src/interventions/question_store.ts";

const question = (id = "q", session = "default/main"): Question => ({
  id,
  session,
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
function surface(name: string, rank: Listener["rank"] = "listener", session?: string) {
  const shown: { id: string; expiresAt: number | null; over?: Over }[] = [];
  return {
    name,
    rank,
    wants: (one: string) => session === undefined || one === session,
    shown,
    show({ question: { id }, expiresAt }: ShownQuestion) {
      const one: (typeof shown)[number] = { id, expiresAt };
      shown.push(one);
      return (over: Over) => {
        assert.equal(one.over, undefined, "told once");
        one.over = over;
      };
    },
  };
}

describe("interventions", () => {
  let store: ReturnType<typeof memoryStore>;
  let clock: VirtualClock;
  let records: InterventionRecord[];
  let queue: Interventions;
  const start = (returnMs = 0) =>
    createInterventions({ store, clock, record: (record) => records.push(record), returnMs });
  const types = () => records.map(({ type }) => type);
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  beforeEach(() => {
    store = memoryStore();
    clock = virtualClock();
    records = [];
    queue = start();
  });

  it("answers at once that nobody is there, and lets no later answer count", async () => {
    assert.equal(queue.listening("default/main"), false);
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
    const over = { status: "answered", answer: "A", by: "http:ci" };
    assert.deepEqual([one.shown[0]?.over, two.shown[0]?.over], [over, over]);
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
    assert.equal(queue.listening("default/main"), false);
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

describe("surfaces of an intervention", () => {
  let store: ReturnType<typeof memoryStore>;
  let clock: VirtualClock;
  let records: InterventionRecord[];
  let queue: Interventions;
  const start = (returnMs = 0) =>
    createInterventions({ store, clock, record: (record) => records.push(record), returnMs });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  beforeEach(() => {
    store = memoryStore();
    clock = virtualClock();
    records = [];
    queue = start();
  });

  it("are asked only about the sessions that they want", async () => {
    const [own, other] = [surface("socket", "listener", "default/a"), surface("ci", "listener", "default/b")];
    const leave = queue.attach(own);
    queue.attach(other);
    assert.deepEqual(["a", "b", "c"].map((sid) => queue.listening(`default/${sid}`)), [true, true, false]);
    const reply = queue.ask(question("q", "default/a"));
    await settled();
    assert.deepEqual([own.shown.length, other.shown.length], [1, 0]);
    assert.deepEqual(await queue.ask(question("r", "default/c")), { status: "nobody" });
    leave();
    assert.deepEqual(await reply, { status: "nobody" });
    assert.equal(other.shown.length, 0);
  });

  it("of another session do not keep a terminal from being asked", async () => {
    const terminal = surface("terminal", "terminal", "default/a");
    queue.attach(terminal);
    queue.attach(surface("chat", "listener", "default/b"));
    void queue.ask(question("q", "default/a"));
    await settled();
    assert.deepEqual(terminal.shown.map(({ id }) => id), ["q"]);
  });

  it("leave while the store is looked at without taking the question from those who stay", async () => {
    const leave = queue.attach(surface("one"));
    const stays = surface("two");
    queue.attach(stays);
    const reply = queue.ask(question());
    leave();
    await settled();
    await queue.answer("q", "A", "two");
    assert.deepEqual(await reply, { status: "answered", answer: "A", by: "two" });
  });

  it("are told until when a question can be answered, and why it is over", async () => {
    const chat = surface("chat");
    queue.attach(chat);
    const reply = queue.ask(question());
    await settled();
    assert.equal(chat.shown[0]?.expiresAt, clock.now() + ANSWER_LIMIT_MS);
    assert.deepEqual((await queue.list()).map(({ expiresAt }) => expiresAt), [clock.now() + ANSWER_LIMIT_MS]);
    await clock.advance(ANSWER_LIMIT_MS);
    await reply;
    assert.deepEqual(chat.shown[0]?.over, { status: "expired" });
    const late = surface("late");
    queue.attach(late);
    await settled();
    assert.deepEqual(late.shown, []);
  });

  it("that are no terminals are shown what was left open, and answer it for whoever asks again", async () => {
    await queue.ask(question("q"), { keep: true });
    await store.ask({ ...question("of an earlier process"), kind: "valve" });
    await store.ask(question("that may have come with the project"));
    const [chat, terminal] = [surface("chat"), surface("terminal", "terminal")];
    queue.attach(terminal);
    queue.attach(chat);
    await settled();
    assert.deepEqual(chat.shown.map(({ id, expiresAt }) => [id, expiresAt]), [["q", null], [
      "of an earlier process",
      null,
    ]]);
    assert.deepEqual(terminal.shown, []);
    assert.equal(await queue.answer("q", "A", "chat"), "taken");
    assert.deepEqual(chat.shown[0]?.over, { status: "answered", answer: "A", by: "chat" });
    assert.deepEqual(records.at(-1), {
      type: "answered",
      question: question("q"),
      answer: "A",
      by: "chat",
      late: true,
    });
    assert.deepEqual(await queue.ask(question("q"), { keep: true }), {
      status: "answered",
      answer: "A",
      by: "chat",
    });
  });

  it("stay with a question that its session leaves open, and lose it when it is settled elsewhere", async () => {
    const [chat, terminal] = [surface("chat"), surface("terminal", "terminal")];
    queue.attach(terminal);
    const stopping = new AbortController();
    const reply = queue.ask(question(), { keep: true, signal: stopping.signal });
    await settled();
    queue.attach(chat);
    stopping.abort();
    await reply;
    assert.deepEqual(terminal.shown[0]?.over, { status: "withdrawn" });
    assert.equal(chat.shown[0]?.over, undefined);
    queue.settled("q");
    assert.deepEqual(chat.shown[0]?.over, { status: "withdrawn" });
  });

  it("come back after a crash within the time that they have, and not later", async () => {
    await store.ask(question("q"));
    await store.ask(question("r"));
    queue = start(1000);
    const [first, second] = [queue.ask(question("q")), queue.ask(question("r", "default/other"))];
    assert.deepEqual(await queue.ask(question("new")), { status: "nobody" });
    await clock.advance(999);
    queue.attach(surface("chat", "listener", "default/main"));
    await clock.advance(1);
    assert.deepEqual(await second, { status: "nobody" });
    await queue.answer("q", "A", "chat");
    assert.deepEqual(await first, { status: "answered", answer: "A", by: "chat" });
  });

  it("may name a question by its public id, and are told that it is over when it is settled", async () => {
    queue.attach(surface("chat"));
    const reply = queue.ask(question());
    await settled();
    assert.match(publicId("q"), /^[0-9a-f]{32}$/);
    assert.equal(await queue.answer(publicId("q"), "A", "chat"), "taken");
    await reply;
    await queue.settle("q");
    assert.equal(await queue.answer(publicId("q"), "A", "chat"), "answered");
    assert.equal(await queue.answer(publicId("other"), "A", "chat"), "unknown");
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
