import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { AUDIT_GROUPS, type AuditType } from "../../src/audit/events.ts";
import { openAudit } from "../../src/audit/writer.ts";
import type { ListedQuestion } from "../../src/interventions/question_store.ts";
import { openBare } from "../../src/runtime/open_bare.ts";
import { samplesOf } from "../../src/server/metric_events.ts";
import { createMetrics, type Metrics } from "../../src/server/metrics.ts";
import { METRICS } from "../../src/server/metric_table.ts";

const host = { clock: systemClock, ioClock: systemClock, ids: randomIds(), fault: () => {} };

const QUESTION: ListedQuestion = {
  question: { id: "q", session: "default/a", kind: "valve", title: "", lines: [], choices: [] },
  askedAt: systemClock.now(),
  answer: null,
  waits: false,
  expiresAt: null,
};

/** Samples by their name and labels as they are written, without those of which nothing was counted. */
async function samples(metrics: Metrics): Promise<Map<string, number>> {
  const { text } = await metrics.render();
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line);
    if (match?.[1] && Number(match[2]) !== 0) found.set(match[1], Number(match[2]));
  }
  return found;
}

describe("metrics of a runtime", () => {
  let dir = "";
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "reyn-metrics-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  it("count what hooks do by point, scheme and outcome, and what they were kept from", async () => {
    const metrics = createMetrics({ clock: systemClock });
    const log = openAudit({ dir, clock: systemClock, ids: randomIds(), pid: 1 });
    const audit = metrics.instrument.audit(log);
    let built = 0;
    audit.emit("hooks_evaluated", "default/a", () => {
      built += 1;
      return { point: "turn_end", verdicts: { "secret-name": "matcher:tool", b: "pushed", c: "pushed" } };
    });
    const run = { command: "true", returncode: 0, attribution: null, duration_ms: 30 };
    audit.emit("hook_shell_executed", "default/a", {
      ...run,
      hook: "secret-name",
      point: "composed:secret-event",
      mode: "exec",
      outcome: "exit",
      denial_class: "write_denied",
    });
    assert.equal((await samples(metrics)).get('reyn_sandbox_state{state="confirmed"}'), 1);
    audit.emit("hook_exec_refused", "default/a", {
      hook: "x",
      mode: "exec",
      command: "true",
      reason: "sandbox_unconfirmed",
    });
    audit.emit("hook_skipped", "default/a", { hook: "x", point: "turn_end", reason: "lane_full" });
    for (const outcome of ["heard", "unheard", "heard"] as const) {
      audit.emit("bus_event_published", "default/a", { event_id: "e", kind: "http:ci:x", by: "ci", outcome });
    }
    audit.emit("http_refused", null, { status: 429, code: "E_EVENTS_FULL", count: 7 });
    audit.emit("hook_failed", "default/a", {
      hook: "x",
      point: "turn_end",
      code: "E_HOOK_EXEC",
      error: "secret",
    });
    audit.emit("inbox_refused", "default/a", { kind: "user", reason: "inbox full" });
    audit.emit("inbox_dropped", "default/a", { ids: ["1", "2", "3"], reason: "safety.on_limit abort" });
    audit.emit("session_halted", "default/a", { reason: "hook secret-name failed with on_error: suspend" });
    await audit.close();
    const found = await samples(metrics);
    assert.equal(found.get('reyn_bus_events_total{outcome="heard"}'), 2);
    assert.equal(found.get('reyn_bus_events_total{outcome="unheard"}'), 1);
    assert.equal(found.get('reyn_http_refused_total{status="429",code="E_EVENTS_FULL"}'), 7);
    for (
      const [sample, value] of [
        ['reyn_hook_verdicts_total{point="turn_end",verdict="matcher"}', 1],
        ['reyn_hook_verdicts_total{point="turn_end",verdict="pushed"}', 2],
        ['reyn_hook_runs_total{point="composed",scheme="exec",outcome="exit"}', 1],
        ['reyn_hook_run_seconds_sum{scheme="exec"}', 0.03],
        ['reyn_hook_run_seconds_bucket{le="0.05",scheme="exec"}', 1],
        ['reyn_sandbox_denials_total{class="write_denied"}', 1],
        ['reyn_hook_refused_total{reason="sandbox_unconfirmed"}', 1],
        ['reyn_sandbox_state{state="unconfirmed"}', 1],
        ['reyn_hook_skipped_total{point="turn_end",reason="lane_full"}', 1],
        ['reyn_hook_failures_total{point="turn_end",code="E_HOOK_EXEC"}', 1],
        ['reyn_inbox_refused_total{kind="user",reason="inbox_full"}', 1],
        ['reyn_inbox_dropped_total{reason="safety.on_limit_abort"}', 3],
        ['reyn_sessions_halted_total{reason="hook_failed"}', 1],
        ['reyn_events_total{type="inbox_dropped"}', 1],
      ] as const
    ) assert.equal(found.get(sample), value, sample);
    assert.equal(found.get('reyn_hook_run_seconds_bucket{le="0.025",scheme="exec"}'), undefined);
    assert.equal(found.get('reyn_sandbox_state{state="confirmed"}'), undefined);
    assert.equal(built, 1, "data that is built late is built once");
    const { text } = await metrics.render();
    assert.ok(!text.includes("secret") && !text.includes("default/a"), "names, text and sessions stay out");
  });

  it("stay few whatever events say", async () => {
    const metrics = createMetrics({ clock: systemClock });
    const log = openAudit({ dir, clock: systemClock, ids: randomIds(), pid: 2 });
    const audit = metrics.instrument.audit(log);
    for (let n = 0; n < 500; n++) {
      audit.emit("hook_skipped", "default/a", { hook: "x", point: `composed:e${n}`, reason: `because ${n}` });
      audit.emit("hook_skipped", "default/a", { hook: "x", point: `unheard${n}`, reason: "x" });
    }
    await audit.close();
    const skipped = [...(await samples(metrics)).entries()].filter(([name]) =>
      name.startsWith("reyn_hook_skipped")
    );
    assert.ok(skipped.length <= 67, String(skipped.length));
    assert.equal(skipped.reduce((sum, [, value]) => sum + value, 0), 1000, "and nothing goes uncounted");
  });

  it("count events that the log loses", async () => {
    const metrics = createMetrics({ clock: systemClock });
    const audit = openAudit({
      dir,
      clock: systemClock,
      ids: randomIds(),
      pid: 3,
      queueLimit: { events: 10, bytes: 1e6 },
      onLost: metrics.instrument.auditLost,
    });
    for (let n = 0; n < 50; n++) audit.emit("session_halted", null, { reason: "x" });
    await audit.flush();
    audit.emit("session_halted", null, () => {
      throw new Error("no data");
    });
    await audit.close();
    const found = await samples(metrics);
    assert.equal(found.get('reyn_audit_lost_total{reason="queue_full"}'), 40);
    assert.equal(found.get('reyn_audit_lost_total{reason="data_failed"}'), 1);
  });

  it("tell what waits, since when, and how long the store takes", async () => {
    const controlDir = join(dir, "control");
    await mkdir(controlDir);
    let ahead = 0;
    const clock = {
      ...systemClock,
      now: () => systemClock.now() + ahead,
      monotonic: () => systemClock.monotonic() + ahead,
    };
    const metrics = createMetrics({ clock });
    const talk: string[] = [];
    const { instrument } = metrics;
    const bare = await openBare({
      controlDir,
      verb: "test",
      host,
      talk: (line) => talk.push(line),
      instrument,
    });
    assert.equal((await samples(metrics)).get('reyn_inbox_messages{wake="true"}'), undefined);
    const list = () => Promise.resolve([QUESTION, { ...QUESTION, answer: { answer: "y", by: "chat" } }]);
    metrics.watch({
      store: bare.store,
      sessions: { list: () => [{ active: true }, { active: false }] },
      interventions: { list },
    });
    const put = (id: string, wake: boolean) =>
      bare.store.put("default/a", { id, kind: "user", wake, body: {} });
    await put("1", true);
    await put("1", true);
    await put("2", false);
    ahead = 90_000;
    const found = await samples(metrics);
    assert.equal(found.get('reyn_inbox_messages{wake="true"}'), 1);
    assert.equal(found.get('reyn_inbox_messages{wake="false"}'), 1);
    const age = found.get("reyn_inbox_oldest_seconds") ?? 0;
    assert.ok(age >= 90 && age < 120, String(age));
    assert.equal(found.get('reyn_questions_open{kind="valve"}'), 1);
    const asked = found.get("reyn_questions_oldest_seconds") ?? 0;
    assert.ok(asked >= 90 && asked < 120, String(asked));
    assert.deepEqual(
      ["stored", "loaded", "active"].map((state) => found.get(`reyn_sessions{state="${state}"}`)),
      [1, 2, 1],
    );
    assert.equal(found.get('reyn_store_commit_seconds_count{call="put",status="stored"}'), 2);
    assert.equal(found.get('reyn_store_commit_seconds_count{call="put",status="duplicate"}'), 1);
    await bare.close();
    await assert.rejects(put("3", true));
    ahead += 2000;
    const broken = await samples(metrics);
    assert.equal(broken.get('reyn_store_errors_total{code="E_STATE_IO"}'), 2);
    assert.equal(broken.get('reyn_inbox_messages{wake="true"}'), undefined, "what is not known is not told");
    assert.deepEqual(talk, []);
  });

  it("are all there, each with what it says", async () => {
    const { type, text } = await createMetrics({ clock: systemClock }).render();
    assert.match(type, /^text\/plain; version=0\.0\.4/);
    for (const [name, { kind }] of Object.entries(METRICS)) {
      assert.match(text, new RegExp(`^# HELP ${name} \\S`, "m"));
      assert.match(text, new RegExp(`^# TYPE ${name} ${kind}$`, "m"));
    }
  });
});

/** Types of events that tell of nothing lost, refused or failed, or that are counted where it happens. */
const NO_LOSS: Partial<Record<AuditType, string>> = {
  chat_started: "order",
  chat_stopped: "order",
  session_started: "order",
  session_completed: "order",
  turn_started: "order",
  turn_settled: "order",
  plugin_emitted: "said by a plugin",
  intervention_asked: "order",
  intervention_answered: "order",
  composer_fired: "order",
  "hooks.loaded": "order",
  "hooks.decided": "order",
  project_trusted: "done by a person",
  project_trust_revoked: "done by a person",
  audit_dropped: "reyn_audit_lost_total",
  server_started: "order",
  server_stopped: "nobody scrapes any more",
  reload_requested: "order",
  store_set_aside: "reyn_store_notices_total",
  gc_removed: "asked for",
};

describe("metrics of events", () => {
  it("hold one for each that tells of something lost, refused or failed", () => {
    const types = Object.keys(AUDIT_GROUPS) as AuditType[];
    const without = types.filter((type) => samplesOf(type, { verdicts: { a: "failed" } }).length === 0);
    assert.deepEqual(without.toSorted(), Object.keys(NO_LOSS).toSorted());
  });
});
