import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AuditEvent } from "../../src/audit/audit.ts";
import { AUDIT_GROUPS } from "../../src/audit/events.ts";
import { renderEvent } from "../../src/audit/render.ts";
import { sample } from "./helpers.ts";

function shown(type: string, data: Record<string, unknown>, rest: Partial<AuditEvent> = {}): string {
  const event = sample(0, { type, data, timestamp: "2026-11-30T12:34:56.789Z", ...rest });
  return renderEvent(event, { today: "2026-11-30" });
}

describe("an audit event as a line", () => {
  it("shows time, session, type and what matters of the data", () => {
    assert.equal(
      shown("turn_started", { kind: "human", chain_id: null, seq: 3, hook_driven_turns: 0, resumed: false }),
      "12:34:56.789 default/main turn_started human seq=3",
    );
    assert.equal(
      shown("turn_started", { kind: "hook", chain_id: "c-1", seq: 4, hook_driven_turns: 2, resumed: true }),
      "12:34:56.789 default/main turn_started hook chain_id=c-1 seq=4 hook_driven_turns=2 resumed",
    );
    assert.equal(
      shown("hook_push_fired", {
        hook_name: null,
        point: "turn_end",
        wake: true,
        target_session: "default/main",
      }),
      "12:34:56.789 default/main hook_push_fired turn_end wake target_session=default/main",
    );
    assert.equal(
      shown("hooks_evaluated", {
        point: "turn_end",
        verdicts: { fmt: "pushed", "startup#1": "matcher:path" },
      }),
      "12:34:56.789 default/main hooks_evaluated turn_end verdicts={fmt:pushed,startup#1:matcher:path}",
    );
    assert.equal(
      shown("audit_dropped", { count: 7, reason: "queue_full" }, { session: null }),
      "12:34:56.789 - audit_dropped queue_full count=7",
    );
  });

  it("shows the date of an event of another day", () => {
    const event = sample(0, { timestamp: "2026-11-29T23:59:59.001Z" });
    assert.match(renderEvent(event, { today: "2026-11-30" }), /^2026-11-29 23:59:59\.001 default/);
    assert.match(renderEvent(event), /^23:59:59\.001 default/);
  });

  it("shows a run of an exec hook as the command, with its return code unless it is 0", () => {
    const exec = (data: Record<string, unknown>) =>
      shown("hook_shell_executed", { hook: "fmt", denial_class: null, duration_ms: 12, ...data }).slice(26);
    assert.equal(
      exec({ mode: "exec", command: "cargo fmt", returncode: 0, outcome: "ok" }),
      "exec: cargo fmt",
    );
    assert.equal(
      exec({ mode: "exec_capture", command: "bin/next --all", returncode: 0, outcome: "ok" }),
      "exec_capture: bin/next --all",
    );
    assert.equal(
      exec({ mode: "exec", command: "false", returncode: 1, outcome: "exit" }),
      "exec: false [rc=1]",
    );
    assert.equal(
      exec({ mode: "exec", command: "true", returncode: -9, outcome: "signal" }),
      "exec: true [rc=-9]",
    );
    assert.equal(
      exec({ mode: "exec", command: "sleep 99", returncode: null, outcome: "timeout" }),
      "exec: sleep 99 [timeout]",
    );
  });

  it("shows types that this version does not know", () => {
    assert.equal(
      shown("from_the_future", { a: "b c", list: ["x", 1], deep: { k: null } }),
      '12:34:56.789 default/main from_the_future a="b c" list=[x,1] deep={k:null}',
    );
    assert.equal(shown("constructor", { toString: "x" }), "12:34:56.789 default/main constructor toString=x");
  });

  it("lets no text move the cursor, hide, reorder, or pass for another field", () => {
    assert.equal(
      shown("hook_failed", {
        hook: "a\u202eb",
        point: "turn_end",
        code: "E",
        error: 'x\n12:00 "ok"\x1b[2K seq=9',
      }),
      '12:34:56.789 default/main hook_failed a\\u{202e}b turn_end E error="x\\u{a}12:00 \\"ok\\"\\u{1b}[2K seq=9"',
    );
    const line = shown("x\u200by\r", { "k\u0000": "\u2066" }, { session: "a/\u009bb" });
    assert.equal(line, "12:34:56.789 a/\\u{9b}b x\\u{200b}y\\u{d} k\\u{0}=\\u{2066}");
  });

  it("uses colours only when it may", () => {
    for (const type of Object.keys(AUDIT_GROUPS)) {
      const event = sample(1, { type, data: { reason: "x" } });
      assert.equal(renderEvent(event).includes("\x1b"), false);
      const coloured = renderEvent(event, { colour: true });
      assert.ok(coloured.includes(`m${type}\x1b[0m`), coloured);
      const plain = coloured.split("\x1b").map((part) => part.replace(/^\[\d+m/, "")).join("");
      assert.equal(plain, renderEvent(event));
    }
  });
});
