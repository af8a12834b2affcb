import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, afterEach, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { loadForSession, requireUsable } from "../../src/runtime/configuration.ts";
import { openRuntime } from "../../src/runtime/open_runtime.ts";
import { publishEvent } from "../../src/runtime/publish_event.ts";
import type { RunEvent } from "../../src/runtime/run_event.ts";
import type { Session } from "../../src/session/session.ts";

const OWN = { agent: "default", sid: "main" };
const folder = mkdtempSync(join(tmpdir(), "reyn-publish-"));
const home = process.env["HOME"];
process.env["HOME"] = folder;
after(() => {
  if (home === undefined) delete process.env["HOME"];
  else process.env["HOME"] = home;
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
let close = () => Promise.resolve();
afterEach(() => close());

interface Opened {
  session: Session;
  events: RunEvent[];
  dir: string;
  idle(): Promise<void>;
}

async function open(config: string): Promise<Opened> {
  const dir = join(folder, `c${++count}`);
  mkdirSync(dir);
  writeFileSync(join(dir, "reyn.yaml"), `model: { provider: echo }\n${config}`);
  const configuration = loadForSession({ controlDir: dir, ...OWN });
  requireUsable(configuration);
  const host = { clock: systemClock, ioClock: systemClock, ids: randomIds(), fault: () => {} };
  const events: RunEvent[] = [];
  const failures: unknown[] = [];
  const runtime = await openRuntime({
    controlDir: dir,
    verb: "test",
    configuration,
    host,
    talk: () => {},
    hooks: true,
    observe: (event) => void events.push(event),
    onFailure: (_session, error) => void failures.push(error),
  });
  const session = await runtime.sessions.load(OWN);
  close = async () => {
    await runtime.close();
    assert.deepEqual(failures, []);
  };
  return { session, events, dir, idle: () => runtime.sessions.idle() };
}

const replies = ({ state }: Session) =>
  state.history.filter(({ role }) => role === "assistant").map(({ text }) => text);

describe("an event from outside", () => {
  it("reaches composers, and the hooks on what they emit start turns", async () => {
    const { session, idle } = await open(`
composers:
  - { name: a, op: all, correlate_by: id, inputs: [{ kind: "mcp:server:asked" }, { kind: "http:ci:done" }], emit: { kind: composed:a } }
hooks: [{ name: h, on: composed:a, template_push: { message: "for {{ correlation_key }}" } }]
`);
    await publishEvent(session, OWN, { kind: "mcp:server:asked", payload: { id: 7 }, id: "e1" });
    await publishEvent(session, OWN, { kind: "http:ci:done", payload: { id: 8 }, id: "e2" });
    await idle();
    assert.deepEqual(replies(session), []);
    await publishEvent(session, OWN, { kind: "http:ci:done", payload: { id: 7 }, id: "e3" });
    await idle();
    assert.deepEqual(replies(session), ["echo: [hook:h] for 7"]);
  });

  it("is refused when it is nested too deeply, and at exactly the bound taken", async () => {
    const { session } = await open(`composers:
  - { name: a, op: any, inputs: [{ kind: "mcp:s:asked" }], emit: { kind: composed:a } }
`);
    const nested = (levels: number): Record<string, unknown> => {
      let payload: Record<string, unknown> = {};
      for (let level = 0; level < levels; level++) payload = { payload };
      return payload;
    };
    await publishEvent(session, OWN, { kind: "mcp:s:asked", payload: nested(100), id: "e1" });
    for (const levels of [101, 100_000]) {
      await assert.rejects(
        publishEvent(session, OWN, { kind: "mcp:s:asked", payload: nested(levels), id: "e2" }),
        /nested more than 100 levels/,
      );
    }
  });

  it("is on disk when the call resolves, where it arms something durable", async () => {
    const { session, dir } = await open(`
composers: [{ name: d, op: deadline, on: "mcp:s:asked", until: { on: "mcp:s:answered" }, correlate_by: id, ttl: 1h, policy: { capacity: 1000 } }]
`);
    const path = join(dir, ".reyn/agents/default/state/composer_pending.json");
    const armed = () => (JSON.parse(readFileSync(path, "utf8")) as { records: unknown[] }).records.length;
    await publishEvent(session, OWN, { kind: "mcp:s:asked", payload: { id: "x" }, id: "x" });
    assert.equal(armed(), 1);
    await Promise.all(
      Array.from(
        { length: 300 },
        (_, id) => publishEvent(session, OWN, { kind: "mcp:s:asked", payload: { id }, id: `e${id}` }),
      ),
    );
    assert.equal(armed(), 301);
    await publishEvent(session, OWN, { kind: "mcp:s:answered", payload: { id: "x" }, id: "y" });
    assert.equal(armed(), 300);
  });

  it("wakes a session that has nothing else to do when its time is over, and keeps it loaded until then", async () => {
    const { session, idle } = await open(`
composers: [{ name: d, op: deadline, on: "mcp:s:asked", until: { on: "mcp:s:answered" }, ttl: 150ms }]
hooks: [{ name: h, on: composed:d, template_push: { message: "no answer" } }]
`);
    await publishEvent(session, OWN, { kind: "mcp:s:asked", payload: {}, id: "x" });
    await idle();
    assert.equal(session.busy, true);
    assert.deepEqual(replies(session), []);
    while (replies(session).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await idle();
    assert.deepEqual(replies(session), ["echo: [hook:h] no answer"]);
    while (session.busy) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("pushes once when it is sent twice", async () => {
    const { session, idle } = await open(`
composers: [{ name: a, op: any, inputs: [{ kind: "mcp:s:e" }], emit: { kind: composed:a } }]
hooks: [{ name: h, on: composed:a, template_push: { message: "once" } }]
`);
    for (let n = 0; n < 3; n++) {
      await publishEvent(session, OWN, { kind: "mcp:s:e", payload: {}, id: "same" });
    }
    await idle();
    assert.deepEqual(replies(session), ["echo: [hook:h] once"]);
  });

  it("runs the hooks at its own point too, with no composer anywhere", async () => {
    const { session, idle } = await open(`
hooks: [{ name: h, on: turn_end, matcher: { status: ok }, template_push: { message: "{{ point }}", push_when: "{{ user_text == 'x' }}" } }]
`);
    await publishEvent(session, OWN, {
      kind: "turn_end",
      payload: { status: "ok", user_text: "x" },
      id: "e",
    });
    await idle();
    assert.deepEqual(replies(session), ["echo: [hook:h] turn_end"]);
  });

  it("is refused when its kind is none", async () => {
    const { session } = await open("");
    await assert.rejects(
      publishEvent(session, OWN, { kind: "turn_ent", payload: {}, id: "e" }),
      { code: "E_COMPOSER_KIND", fix: 'did you mean "turn_end"?' },
    );
  });

  it("loses nothing of many composed events while their hooks are slower", async () => {
    const { session, idle } = await open(`
composers: [{ name: a, op: any, inputs: [{ kind: "mcp:s:e" }], emit: { kind: composed:a } }]
hooks:
  - { name: h, on: composed:a, template_push: { message: "{{ inputs[0].n }}", wake: false } }
`);
    for (let n = 0; n < 900; n++) {
      await publishEvent(session, OWN, { kind: "mcp:s:e", payload: { n }, id: `e${n}` });
    }
    await idle();
    const human = { id: "m", kind: "user", wake: true, body: { text: "now" } };
    await session.accept(human);
    await idle();
    const texts = session.state.history.filter(({ hook }) => hook === "h").map(({ text }) => text);
    assert.deepEqual(texts, Array.from({ length: 900 }, (_, n) => `[hook:h] ${n}`));
  });
});

describe("a session with composers", () => {
  it("publishes nothing at all without any", async () => {
    const { session, events, idle } = await open(
      "hooks: [{ on: turn_end, template_push: { message: x, wake: false } }]\n",
    );
    await session.accept({ id: "m", kind: "user", wake: true, body: { text: "hi" } });
    await idle();
    assert.deepEqual(events.filter(({ type }) => type === "composer"), []);
  });
});
