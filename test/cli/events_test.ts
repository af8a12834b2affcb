import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { encodeLine } from "../../src/audit/line.ts";
import { eventsVerb } from "../../src/cli/events.ts";
import type { EventsOptions } from "../../src/cli/events_options.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";

const NOON = Date.UTC(2026, 10, 30, 12);
const line = (n: number, type: string, session: string | null, data: Record<string, unknown>) =>
  encodeLine({ id: `e-${n}`, type, timestamp: new Date(NOON + n * 1000).toISOString(), session, data }) +
  "\n";

const LOG = [
  line(1, "session_started", "default/main", { agent_name: "default", resumed: false }),
  line(2, "turn_settled", "reviewer/main", { kind: "human", chain_id: null, seq: 1 }),
  line(3, "hook_failed", "default/main", { hook: "h", point: "turn_end", code: "E_X", error: "no" }),
];

describe("reyn events", () => {
  let dir = "";
  let log = "";
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "reyn-events-"));
    mkdirSync(join(dir, ".reyn", "events"), { recursive: true });
    log = join(dir, ".reyn", "events", "2026-11-30-1.jsonl");
    writeFileSync(log, LOG.join(""));
  });
  after(() => rmSync(dir, { recursive: true }));

  async function run(options: EventsOptions, controlDir = dir) {
    let [stdout, stderr] = ["", ""];
    const code = await eventsVerb(options, {
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      signal: new AbortController().signal,
      clock: virtualClock(NOON + 4000),
      controlDir,
    });
    return { code, stdout, stderr };
  }

  it("prints one readable line an event", async () => {
    assert.deepEqual(await run({}), {
      code: 0,
      stdout: "12:00:01.000 default/main session_started default\n" +
        "12:00:02.000 reviewer/main turn_settled human seq=1\n" +
        "12:00:03.000 default/main hook_failed h turn_end E_X error=no\n",
      stderr: "",
    });
  });

  it("prints each line as it is stored with --json", async () => {
    assert.deepEqual(await run({ json: true }), { code: 0, stdout: LOG.join(""), stderr: "" });
  });

  it("filters by session, by types and by time", async () => {
    const json = async (options: EventsOptions) => (await run({ json: true, ...options })).stdout;
    assert.equal(await json({ session: "main" }), `${LOG[0]}${LOG[2]}`);
    assert.equal(await json({ session: "reviewer/main" }), LOG[1]);
    assert.equal(await json({ type: "hook_failed, turn_settled" }), `${LOG[1]}${LOG[2]}`);
    assert.equal(await json({ type: "audit_dropped" }), "");
    for (
      const since of [
        "2s",
        "2",
        "2000ms",
        "2026-11-30T12:00:02Z",
        "2026-11-30T12:00:02",
        "2026-11-30T14:00:02+02:00",
      ]
    ) {
      assert.equal(await json({ since }), `${LOG[1]}${LOG[2]}`, since);
    }
    for (const since of ["10m", "1.5h", "2026-11-30", "2020-01-01T00:00"]) {
      assert.equal(await json({ since }), LOG.join(""), since);
    }
    assert.equal(await json({ since: "2026-12-01" }), "");
  });

  it("refuses an unknown type, and says which one is meant", async () => {
    assert.deepEqual(await run({ type: "hook_failed,turn_setled" }), {
      code: 2,
      stdout: "",
      stderr: 'E_USAGE --type: unknown event "turn_setled" (did you mean "turn_settled"?)\n',
    });
  });

  it("refuses other options that mean nothing", async () => {
    const wrong: EventsOptions[] = [
      { type: " , " },
      { type: "constructor" },
      { session: "a/b/c" },
      { session: "" },
      { since: "yesterday" },
      { since: "-5m" },
      { since: "10d" },
      { since: "2026-13-01" },
      { since: "" },
    ];
    for (const options of wrong) {
      const { code, stdout, stderr } = await run(options);
      assert.deepEqual([code, stdout, stderr.slice(0, 8)], [2, "", "E_USAGE "], JSON.stringify(options));
    }
  });

  it("prints nothing where there is no log", async () => {
    assert.deepEqual(await run({}, join(dir, "elsewhere")), { code: 0, stdout: "", stderr: "" });
  });

  it("tells of damage on stderr and goes on; a file that cannot be read is a failure", async () => {
    const other = mkdtempSync(join(dir, "other-"));
    const events = join(other, ".reyn", "events");
    mkdirSync(events, { recursive: true });
    writeFileSync(join(events, "2026-11-30-1.jsonl"), `bad\n${LOG[0]}`);
    const damaged = await run({ json: true }, other);
    assert.deepEqual([damaged.code, damaged.stdout], [0, LOG[0]]);
    assert.match(damaged.stderr, /^W_AUDIT_DAMAGED .*2026-11-30-1\.jsonl: 1 line is damaged/);
    mkdirSync(join(events, "2026-11-30-2.jsonl"));
    const unreadable = await run({ json: true }, other);
    assert.deepEqual([unreadable.code, unreadable.stdout], [1, LOG[0]]);
    assert.match(unreadable.stderr, /^E_FILE_UNREADABLE /m);
  });

  it("ends quietly when its reader is gone, and with any other failure of its output", async () => {
    const failing = (code: string) =>
      eventsVerb({}, {
        stdout: () => Promise.reject(Object.assign(new Error("write"), { code })),
        stderr: () => assert.fail("nothing to tell"),
        signal: new AbortController().signal,
        clock: virtualClock(NOON),
        controlDir: dir,
      });
    assert.equal(await failing("EPIPE"), 0);
    await assert.rejects(failing("EIO"), { code: "EIO" });
  });

  it("follows until it is stopped", async () => {
    const clock = virtualClock(NOON + 4000);
    const stop = new AbortController();
    let stdout = "";
    const done = eventsVerb({ follow: true, json: true, type: "hook_failed" }, {
      stdout: (text) => void (stdout += text),
      stderr: () => assert.fail("nothing to tell"),
      signal: stop.signal,
      clock,
      controlDir: dir,
    });
    const idle = async () => {
      while (clock.armed() === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await idle();
    assert.equal(stdout, LOG[2]);
    const added = line(9, "hook_failed", "default/main", {
      hook: "i",
      point: "turn_end",
      code: "E_X",
      error: "no",
    });
    appendFileSync(log, added);
    await clock.advance(100);
    await idle();
    assert.equal(stdout, `${LOG[2]}${added}`);
    stop.abort();
    assert.equal(await done, 0);
    assert.equal(clock.armed(), 0);
  });
});
