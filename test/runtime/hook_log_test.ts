import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { encodeLine } from "../../src/audit/line.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { boundedSince, firstDayRead, type HookFiring, readFirings } from "../../src/runtime/hook_log.ts";

describe("readFirings()", () => {
  let dir: string;
  let count = 0;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "reyn-hook-log-"));
    mkdirSync(join(dir, ".reyn/events"), { recursive: true });
    count = 0;
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const line = (type: string, data: Record<string, unknown>, session: string | null = "default/main") => {
    count += 1;
    const timestamp = new Date(Date.UTC(2026, 10, 30, 12, 0, 0, count)).toISOString();
    return encodeLine({ id: `e${count}`, type, timestamp, session, data });
  };
  const write = (day: string, lines: string[]) =>
    writeFileSync(join(dir, `.reyn/events/${day}-1.jsonl`), lines.map((one) => `${one}\n`).join(""));
  const read = async (): Promise<HookFiring[]> => {
    const found: HookFiring[] = [];
    const onProblem = (problem: unknown) => assert.fail(JSON.stringify(problem));
    for await (const one of readFirings({ controlDir: dir, clock: systemClock, onProblem })) found.push(one);
    return found;
  };

  it("gives each verdict the details of its own run, by session and hook", async () => {
    write("2026-11-30", [
      line("hook_failed", { hook: "a", code: "E_HOOK_EXEC", error: "of main" }),
      line("hook_failed", { hook: "a", code: "E_HOOK_EXEC", error: "of other" }, "default/other"),
      line("hooks_evaluated", { point: "turn_end", verdicts: { a: "failed", b: "pushed" } }, "default/other"),
      line("hooks_evaluated", { point: "turn_end", verdicts: { a: "failed" } }),
      line("hooks_evaluated", { point: "turn_end", verdicts: { a: "ran" } }),
    ]);
    const firings = await read();
    assert.deepEqual(firings.map(({ id, session }) => [id, session]), [
      ["e3", "default/other"],
      ["e4", "default/main"],
      ["e5", "default/main"],
    ]);
    assert.deepEqual(firings.map(({ details }) => details.get("a")?.error), [
      "of other",
      "of main",
      undefined,
    ]);
    assert.equal(firings[0]?.verdicts.get("b"), "pushed");
  });

  it("keeps the details of a queued run for the record of that run", async () => {
    write("2026-11-30", [
      line("hook_exec_refused", { hook: "a", reason: "consent_refused", detail: "changed" }),
      line("hooks_evaluated", { point: "turn_end", verdicts: { a: "queued" } }),
      line("hooks_evaluated", { point: "turn_end", verdicts: { a: "refused" } }),
    ]);
    const firings = await read();
    assert.deepEqual(firings.map(({ details }) => details.get("a")?.missing), [undefined, "changed"]);
  });

  it("passes over what an event does not have in the form that it should", async () => {
    write("2026-11-30", [
      line("hook_failed", { hook: 5 }),
      line("hooks_evaluated", { point: 7, verdicts: "x" }),
      line("hooks_evaluated", { verdicts: { a: 1, b: "ran" } }),
    ]);
    assert.deepEqual((await read()).map(({ point, verdicts }) => [point, [...verdicts]]), [
      ["", []],
      ["", [["b", "ran"]]],
    ]);
  });

  it("is empty where there is no log, and reads all of a short one", async () => {
    rmSync(join(dir, ".reyn"), { recursive: true });
    assert.deepEqual(await read(), []);
    assert.equal(await firstDayRead(dir), null);
  });

  it("reads no more days than their size allows, and the newest in any case", async () => {
    const most = 64 * 1024 * 1024;
    for (const [day, size] of [["2026-11-28", 10], ["2026-11-29", most], ["2026-11-30", 20]] as const) {
      writeFileSync(join(dir, `.reyn/events/${day}-1.jsonl`), Buffer.alloc(size));
    }
    assert.equal(await boundedSince(dir), Date.UTC(2026, 10, 30));
    assert.equal(await firstDayRead(dir), "2026-11-30");
    writeFileSync(join(dir, ".reyn/events/2026-11-30-2.jsonl"), Buffer.alloc(most));
    assert.equal(await boundedSince(dir), Date.UTC(2026, 10, 30));
  });
});
