import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { humanMessage, keyedMessage } from "../../src/session/messages.ts";
import { viewSession } from "../../src/session/view.ts";
import { startTestServer, type TestServer, until } from "./harness.ts";

const CONFIG = `
model: { provider: echo }
agents:
  slow: { model: { provider: scripted, script: slow.yaml } }
`;

describe("sessions of a server", () => {
  let server: TestServer;
  const texts = async (id: string) => {
    const row = await server.hosting.store.session(id);
    assert.ok(row);
    const { history, inbox } = await viewSession(server.hosting.store, row, true);
    return { history: history.map(({ text }) => text), inbox: inbox.map(({ text }) => text) };
  };
  const idle = (id: string) =>
    until(() => server.hosting.sessions.loaded(id)?.active === false, `${id} is idle`);

  before(async () => {
    server = await startTestServer(CONFIG, {}, (dir) => {
      writeFileSync(join(dir, "slow.yaml"), "[{ delay: 60s, say: late }]\n");
    });
  });
  after(() => server.close());

  it("are ended in the middle of a turn, which the next opening takes up", async () => {
    const ref = { agent: "slow", sid: "main" };
    const { hosting } = server;
    await hosting.accept(ref, humanMessage("m1", "first"));
    await until(
      () => hosting.sessions.loaded("slow/main")?.session.state.current?.turn === 1,
      "the turn runs",
    );
    await hosting.accept(ref, humanMessage("m2", "second"));
    assert.deepEqual(await hosting.end(ref), { waiting: 1 });
    assert.equal(hosting.sessions.loaded("slow/main"), undefined);
    assert.deepEqual(await texts("slow/main"), { history: ["first"], inbox: ["second"] });
    await assert.rejects(() => hosting.end(ref), { code: "E_SESSION_UNKNOWN" });
    await hosting.accept(ref, humanMessage("m3", "third"));
    await idle("slow/main");
    assert.deepEqual(await texts("slow/main"), {
      history: ["first", "echo: first", "second", "echo: second", "third", "echo: third"],
      inbox: [],
    });
  });

  it("take what comes while they end once and in order, whatever the moment", async () => {
    const { hosting } = server;
    for (let round = 0; round < 20; round++) {
      const ref = { agent: "default", sid: `r${round}` };
      const id = `default/r${round}`;
      await hosting.accept(ref, humanMessage("a", "a"));
      await idle(id);
      const ended = hosting.end(ref);
      for (let step = 0; step < round; step++) await Promise.resolve();
      const taken = hosting.accept(ref, humanMessage("b", "b"));
      await Promise.all([ended, taken]);
      // One that came before the end waits for the next opening.
      await hosting.accept(ref, humanMessage("c", "c"));
      await until(async () => (await texts(id)).history.length === 6, `${id} has taken all`);
      assert.deepEqual(await texts(id), {
        history: ["a", "echo: a", "b", "echo: b", "c", "echo: c"],
        inbox: [],
      });
    }
  });

  it("are run for many callers at once, each with its own result, and ended by the last", async () => {
    const ref = { agent: "default", sid: "shared" };
    const runs = ["1", "2", "3"].map((id) => server.hosting.run(ref, humanMessage(id, id)));
    const results = await Promise.all(runs);
    assert.ok(results.every(({ failed, cut, suspended }) => !failed && !cut && suspended === null));
    const { history } = await texts("default/shared");
    assert.equal(results.filter(({ ended }) => ended).length, 1);
    assert.equal(server.hosting.sessions.loaded("default/shared"), undefined);
    assert.deepEqual(history.filter((text) => text.startsWith("echo")).sort(), [
      "echo: 1",
      "echo: 2",
      "echo: 3",
    ]);
  });

  it("are ended again where a run that opened them is refused, and left alone where it did not", async () => {
    const { hosting } = server;
    const ref = { agent: "default", sid: "refused" };
    const id = "default/refused";
    await hosting.run(ref, keyedMessage("http:t:k", "one", true));
    const other = () => hosting.run(ref, keyedMessage("http:t:k", "two", true));
    await assert.rejects(other, { code: "E_MESSAGE_KEY" });
    assert.equal(hosting.sessions.loaded(id), undefined);
    assert.equal((await hosting.store.session(id))?.status["open"], false);
    await hosting.accept(ref, humanMessage("m", "m"));
    await hosting.sessions.idle();
    await assert.rejects(other, { code: "E_MESSAGE_KEY" });
    assert.ok(hosting.sessions.loaded(id));
  });

  it("take nothing that no session could have", async () => {
    const { hosting } = server;
    const put = (agent: string, sid: string) => hosting.accept({ agent, sid }, humanMessage("x", "x"));
    await assert.rejects(() => put("nobody", "main"), { code: "E_AGENT_UNKNOWN" });
    await assert.rejects(() => put("default", "../x"), { code: "E_SESSION_NAME" });
    await assert.rejects(() => put("default", ""), { code: "E_SESSION_NAME" });
    assert.equal(await hosting.store.session("nobody/main"), undefined);
  });
});
