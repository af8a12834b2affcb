import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { encodeLine } from "../../src/audit/line.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { firstDayRead, type HookFiring, logBounds, readFirings } from "../../src/runtime/hook_log.ts";

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

  it("reads no more days than their size allows, and of a larger newest day the end of its files", async () => {
    const most = 64 * 1024 * 1024;
    const sized = (day: string, pid: number, size: number) => {
      const path = join(dir, `.reyn/events/${day}-${pid}.jsonl`);
      writeFileSync(path, "");
      truncateSync(path, size);
    };
    sized("2026-11-28", 1, 10);
    sized("2026-11-29", 1, most);
    sized("2026-11-30", 1, 20);
    assert.deepEqual(await logBounds(dir), { sinceMs: Date.UTC(2026, 10, 30), tails: new Map() });
    assert.equal(await firstDayRead(dir), "2026-11-30");
    sized("2026-11-30", 2, most);
    sized("2026-11-30", 3, 40 * most);
    const { sinceMs, tails } = await logBounds(dir);
    assert.equal(sinceMs, Date.UTC(2026, 10, 30));
    const share = (most - 20) / 2;
    assert.deepEqual(tails, new Map([["2026-11-30-2.jsonl", share], ["2026-11-30-3.jsonl", share]]));
  });

  it("begins a file that is read in part with the first whole line", async () => {
    const one = line("hooks_evaluated", { point: "turn_end", verdicts: { a: "ran" } });
    const path = join(dir, ".reyn/events/2026-11-30-1.jsonl");
    writeFileSync(path, "");
    truncateSync(path, 3 * 1024 ** 3);
    writeFileSync(path, `\n${one}\n${one}\n`, { flag: "a" });
    const found = await read();
    assert.equal(found.length, 2);
    assert.equal(await firstDayRead(dir), "2026-11-30");
  });
});
