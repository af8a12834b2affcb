import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import type { Listener, Over, ShownQuestion } from "../../src/interventions/listener.ts";
import { publicId, type Question } from "../../src/interventions/question.ts";
import { connectServer, type ServerClient } from "../../src/server/client.ts";
import { remoteInterventions } from "../../src/server/remote_interventions.ts";
import { startTestServer, type TestServer, until } from "./harness.ts";

const question = (id: string, session = "default/main"): Question => ({
  id,
  session,
  kind: "consent",
  title: "Shell hook x wants to run a command",
  lines: [{ from: "reyn", text: "/bin/x\u202e" }, { from: "agent", text: "fine\nby me" }],
  choices: [{ answer: "A", label: "always" }, { answer: "n", label: "no", refusal: true }],
});

/** A surface of this process, which keeps what it is shown. */
function surface(rank: Listener["rank"] = "terminal") {
  const shown: (ShownQuestion & { over?: Over })[] = [];
  const self = {
    name: "terminal",
    rank,
    shown,
    here: true,
    live: () => self.here,
    show(one: ShownQuestion) {
      const kept: (typeof shown)[number] = { ...one };
      shown.push(kept);
      return (over: Over) => void (kept.over = over);
    },
  };
  return self;
}

describe("questions over a server", () => {
  let server: TestServer;
  let client: ServerClient;
  const problems: string[] = [];
  const remote = (session = "default/main", of: Pick<ServerClient, "follow" | "post"> = client) =>
    remoteInterventions({
      client: of,
      session,
      clock: systemClock,
      onProblem: (said) => problems.push(said),
    });
  const queue = () => server.hosting.interventions;
  const answer = (id: string, given: string) =>
    server.fetch(`/api/interventions/${id}`, {
      as: "ops",
      method: "POST",
      body: JSON.stringify({ answer: given }),
    });
  const nobody = () => until(() => !queue().listening("default/main"), "nobody is attached");

  before(async () => {
    server = await startTestServer();
    const found = await connectServer(server.dir, systemClock);
    assert.ok(found);
    client = found;
  });
  after(() => server.close());

  it("are shown to a surface of another process as they are, and answered by it", async () => {
    const [here, there] = [surface(), remote()];
    const detach = there.attach(here);
    await there.ready();
    assert.ok(queue().listening("default/main"));
    assert.equal(queue().listening("default/other"), false);
    const odd = question("consent:default/main/1/turn_end/startup:a b/%2f:\u202e");
    const reply = queue().ask(odd);
    await until(() => here.shown.length === 1, "it is shown");
    assert.deepEqual(here.shown[0]?.question, odd);
    assert.ok((here.shown[0]?.expiresAt ?? 0) > Date.now());
    assert.equal(await there.answer(odd.id, "maybe", "terminal"), "not_a_choice");
    assert.equal(await there.answer(odd.id, "A", "terminal"), "taken");
    assert.deepEqual(await reply, { status: "answered", answer: "A", by: "socket" });
    await until(() => here.shown[0]?.over !== undefined, "it is told that it is over");
    assert.deepEqual(here.shown[0]?.over, { status: "answered", answer: "A", by: "socket" });
    assert.equal(await there.answer(odd.id, "A", "terminal"), "answered");
    await queue().settle(odd.id);
    assert.equal(await there.answer(odd.id, "A", "terminal"), "answered");
    assert.equal(await there.answer("other", "A", "terminal"), "unknown");
    detach();
    await nobody();
    assert.deepEqual(problems, []);
  });

  it("do not wait for a surface that cannot show them now, and find it again when it can", async () => {
    const [here, there] = [surface(), remote()];
    const detach = there.attach(here);
    await there.ready();
    here.here = false;
    assert.deepEqual(await queue().ask(question("away")), { status: "nobody" });
    assert.deepEqual(here.shown, []);
    here.here = true;
    await until(() => queue().listening("default/main"), "it has come back");
    detach();
    await nobody();
  });

  it("do not wait for a surface that leaves", async () => {
    const [here, there] = [surface(), remote()];
    const detach = there.attach(here);
    await there.ready();
    const reply = queue().ask(question("left"));
    await until(() => here.shown.length === 1, "it is shown");
    detach();
    assert.deepEqual(await reply, { status: "nobody" });
    await until(() => here.shown[0]?.over?.status === "detached", "it is told");
  });

  it("are asked of nobody where the server cannot be followed, which is said once", async () => {
    const failing = { ...client, follow: () => Promise.reject(new Error("no")) };
    const there = remote("default/main", failing);
    const detach = there.attach(surface());
    await there.ready();
    assert.deepEqual(problems.splice(0), ["the server does not answer"]);
    detach();
  });

  it("are listed for who may answer, with what a person needs to know", async () => {
    const detach = queue().attach(surface("listener"));
    const replies = [queue().ask(question("a", "default/a")), queue().ask(question("b", "x/b"))];
    const list = async (query = "") => {
      const told = await server.fetch(`/api/interventions${query}`, { as: "ops" });
      assert.equal(told.status, 200);
      return (await told.json() as { questions: Record<string, unknown>[] }).questions;
    };
    await until(async () => (await list()).length === 2, "both are asked");
    const [first] = await list("?session=a");
    assert.ok(first);
    const { id, asked_at, expires_at, ...rest } = first;
    const { id: _id, ...told } = question("a", "default/a");
    assert.deepEqual(rest, { ...told, question: "a" });
    assert.equal(id, publicId("a"));
    assert.ok(typeof asked_at === "string" && typeof expires_at === "string" && asked_at < expires_at);
    assert.deepEqual((await list("?session=x/b")).map(({ question: of }) => of), ["b"]);
    assert.deepEqual(await list("?session=b"), []);
    assert.equal((await server.fetch("/api/interventions?sesion=a", { as: "ops" })).status, 400);
    for (const as of ["see", "all"] as const) {
      assert.equal((await server.fetch("/api/interventions", { as })).status, 403);
    }
    assert.equal((await answer(publicId("a"), "A")).status, 200);
    assert.equal((await answer(publicId("a"), "A")).status, 409);
    assert.equal((await answer("b", "n")).status, 200);
    assert.equal((await answer("c", "n")).status, 404);
    assert.deepEqual((await Promise.all(replies)).map((reply) => reply.status === "answered" && reply.by), [
      "http:ops",
      "http:ops",
    ]);
    assert.deepEqual(await list(), []);
    detach();
  });

  it("wait for nobody who only asked for the headers of the stream", async () => {
    const headers = { accept: "text/event-stream" };
    const told = await server.fetch("/api/interventions", { as: "ops", method: "HEAD", headers });
    assert.equal(told.status, 200);
    assert.equal(queue().listening("default/main"), false);
  });
});
