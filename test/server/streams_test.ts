import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { type ReadEvent, readEvents } from "../../src/server/read_events.ts";
import { startTestServer, type TestServer, TOKENS, until } from "./harness.ts";

/** Reads a stream in the background. */
function reading(server: TestServer, path: string, headers: Record<string, string> = {}) {
  const events: ReadEvent[] = [];
  const ended = new AbortController();
  let isOpen = false;
  const done = (async () => {
    const answer = await server.fetch(path, { headers, signal: ended.signal });
    isOpen = true;
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    for await (const event of readEvents(bodyOf(answer), ended.signal)) events.push(event);
  })().catch(() => {});
  return {
    events,
    types: () => events.map(({ type }) => type),
    opened: () => isOpen,
    stop: () => ended.abort(),
    done,
  };
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  assert.ok(body);
  return body;
}

const AUDIT = { accept: "text/event-stream" };

describe("event streams", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it("tell what happens in one session, and only there", async () => {
    const stream = reading(server, "/api/sessions/one/events");
    await until(() => server.hosting.hub.watchers === 1, "the stream is open");
    await server.send("hello", "one");
    await server.send("elsewhere", "other");
    await until(() => stream.types().includes("turn_ended"), "the turn has ended");
    assert.deepEqual(stream.types(), ["session_opened", "turn_started", "reply", "turn_ended"]);
    assert.ok(stream.events.every(({ data }) => !data.includes("elsewhere")));
    stream.stop();
    await until(() => server.hosting.hub.watchers === 0, "the server has seen that the reader is gone");
  });

  it("go on behind the last event that was seen, without a gap and without repeating", async () => {
    const first = reading(server, "/api/sessions/two/events");
    await until(() => server.hosting.hub.watchers === 1, "the stream is open");
    await server.send("a", "two");
    await until(() => first.types().includes("turn_ended"), "the turn has ended");
    first.stop();
    await until(() => server.hosting.hub.watchers === 0, "nobody watches");
    await server.send("b", "two");
    await until(
      () => server.hosting.sessions.list().every(({ active }) => !active),
      "the second turn has ended",
    );
    const seen = first.events.slice(0, 2);
    const second = reading(server, "/api/sessions/two/events", { "last-event-id": seen.at(-1)?.id ?? "" });
    await until(() => second.types().filter((type) => type === "turn_ended").length === 2, "both turns");
    assert.deepEqual(second.types(), [
      "reply",
      "turn_ended",
      "accepted",
      "turn_started",
      "reply",
      "turn_ended",
    ]);
    second.stop();
    await second.done;
  });

  it("say that events are missing when the last one is not known any more", async () => {
    const stream = reading(server, "/api/sessions/two/events", { "last-event-id": "before.7" });
    await until(() => stream.types().length > 0, "something came");
    assert.deepEqual(stream.types(), ["gap"]);
    stream.stop();
    await stream.done;
  });

  it("of the log begin with what is written from then on", async () => {
    await server.send("before", "past");
    const { store, audit } = server.hosting;
    const turns = async () => (await store.session("default/past"))?.status["turns"] === 1;
    await until(turns, "the turn of before has ended");
    await server.hosting.sessions.settled("default/past");
    await audit.flush();
    const stream = reading(server, "/api/events", AUDIT);
    await until(() => stream.opened(), "the stream is open");
    await server.send("after", "present");
    await until(() => stream.types().includes("turn_settled"), "what came after is told");
    assert.ok(stream.events.every(({ data }) => !data.includes("default/past")));
    stream.stop();
    await stream.done;
  });

  it("of the log go on behind the last event, with what was written meanwhile", async () => {
    const first = reading(server, "/api/events?session=three", AUDIT);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.send("a", "three");
    await until(() => first.types().includes("turn_settled"), "the turn is on record");
    first.stop();
    await first.done;
    const from = first.events.find(({ type }) => type === "turn_started");
    await server.send("b", "three");
    await until(
      () => server.hosting.sessions.list().every(({ active }) => !active),
      "the second turn has ended",
    );
    const second = reading(server, "/api/events?session=three", {
      ...AUDIT,
      "last-event-id": from?.id ?? "",
    });
    await until(() => second.types().filter((type) => type === "turn_settled").length === 2, "both turns");
    assert.deepEqual(second.types(), [
      "model_step",
      "turn_completed",
      "turn_settled",
      "turn_started",
      "model_step",
      "turn_completed",
      "turn_settled",
    ]);
    second.stop();
    await second.done;
  });

  it("of the log say that events are missing when the last one is gone", async () => {
    const stream = reading(server, "/api/events?session=three", { ...AUDIT, "last-event-id": "1000.gone-1" });
    await until(() => stream.types().length > 1, "something came");
    assert.equal(stream.types()[0], "gap");
    assert.equal(stream.types()[1], "chat_started");
    stream.stop();
    await stream.done;
  });

  it("leave a session that is called events reachable", async () => {
    await server.send("hello", "default%2Fevents");
    const answer = await server.fetch("/api/sessions/default%2Fevents");
    assert.equal((await answer.json() as { id: string }).id, "default/events");
  });

  it("are so many at the same time, and whoever comes then is told to come back", async () => {
    const sockets: Socket[] = [];
    const head = async () => {
      const socket = connect(server.server.port, "127.0.0.1");
      sockets.push(socket);
      socket.write(
        `GET /api/sessions/many/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKENS.see}\r\n\r\n`,
      );
      const [part]: unknown[] = await once(socket, "data");
      return String(part);
    };
    for (let n = 0; n < 256; n += 1) assert.match(await head(), /^HTTP\/1\.1 200 /);
    assert.match(await head(), /^HTTP\/1\.1 503 [^]*\r\nretry-after: 5\r\n[^]*E_HTTP_BUSY/i);
    for (const socket of sockets) socket.destroy();
    await until(() => server.hosting.hub.watchers === 0, "the readers are gone");
  });

  it("close the connection of a reader that stands still, and hold nothing for it", async () => {
    const socket = connect(server.server.port, "127.0.0.1");
    socket.pause();
    const closed = once(socket, "close");
    socket.on("error", () => {});
    socket.write(
      `GET /api/sessions/slow/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKENS.see}\r\n\r\n`,
    );
    await until(() => server.hosting.hub.watchers === 1, "the stream is open");
    const text = "x".repeat(1024 * 1024);
    for (let n = 0; n < 40 && server.hosting.hub.watchers > 0; n += 1) {
      await server.send(text, "slow");
      await server.hosting.sessions.idle();
    }
    assert.equal(server.hosting.hub.watchers, 0);
    let read = "";
    socket.on("data", (part: Uint8Array) => read += String(part)).resume();
    await closed;
    assert.match(read, /^HTTP\/1\.1 200 /);
    assert.ok(!read.endsWith("0\r\n\r\n"), "the answer is broken off, not ended");
  });

  it("end a run with its result, and with what it was refused for", async () => {
    const post = async (session: string) => {
      const answer = await server.fetch(`/api/sessions/${session}/run`, {
        method: "POST",
        body: JSON.stringify({ text: "hello" }),
      });
      const events: ReadEvent[] = [];
      for await (const event of readEvents(bodyOf(answer))) events.push(event);
      return { status: answer.status, events };
    };
    const { events } = await post("four");
    assert.deepEqual(events.map(({ type }) => type), [
      "session_opened",
      "accepted",
      "turn_started",
      "reply",
      "turn_ended",
      "session_ended",
      "run_ended",
    ]);
    assert.deepEqual(JSON.parse(events.at(-1)?.data ?? ""), {
      failed: false,
      suspended: null,
      ended: true,
      cut: false,
    });
    assert.equal((await post("nobody/main")).status, 404);
  });
});
