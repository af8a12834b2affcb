import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { encodeLine } from "../../src/audit/line.ts";
import { auditEnds } from "../../src/audit/reader.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { folders, lines, NOON, read, sample, write } from "./helpers.ts";

const folder = folders();
const NAME = "2026-11-30-1.jsonl";

describe("the audit reader", () => {
  it("finds nothing in a folder that is not there or empty", async () => {
    const dir = folder();
    assert.deepEqual(await read(dir), { lines: [], ids: [], problems: [] });
    assert.deepEqual(await read(join(dir, "none")), { lines: [], ids: [], problems: [] });
  });

  it("gives each line as it is stored, with its event and its file", async () => {
    const dir = folder();
    const event = sample(1, { data: { kind: "é😀\u202e" } });
    write(dir, NAME, lines(event));
    assert.deepEqual((await read(dir)).lines, [{
      event,
      at: NOON + 1000,
      text: encodeLine(event),
      file: NAME,
    }]);
  });

  it("passes over a torn last line, wherever it is cut", async () => {
    const dir = folder();
    const [first, last] = [lines(sample(1)), lines(sample(2))];
    for (let length = 0; length <= last.length; length++) {
      write(dir, NAME, first + last.slice(0, length));
      const { ids, problems } = await read(dir);
      // Without its newline the record is whole already.
      assert.deepEqual(ids, length >= last.length - 1 ? ["e-1", "e-2"] : ["e-1"], `${length} bytes`);
      assert.deepEqual(problems, [], `${length} bytes`);
    }
  });

  it("passes over a last line whose end is filled with zeros, wherever they begin", async () => {
    const dir = folder();
    const first = Buffer.from(lines(sample(1)));
    const last = Buffer.from(lines(sample(2)));
    for (let length = 0; length < last.length; length++) {
      const torn = Buffer.concat([first, last]);
      torn.fill(0, first.length + length);
      write(dir, NAME, torn);
      const { ids, problems } = await read(dir);
      assert.deepEqual(ids, ["e-1"], `${length} bytes`);
      assert.deepEqual(problems, [], `${length} bytes`);
    }
  });

  it("takes what stands at an instant and after it, wherever in the lines the time is looked for", async () => {
    const dir = folder();
    const odd = sample(2, { type: "odd", id: '"timestamp":"2000-01-01T00:00:00.000Z"', session: null });
    write(dir, NAME, lines(sample(1), odd, sample(3), sample(1), sample(4)));
    for (
      const [sinceMs, ids] of [[NOON + 2000, [odd.id, "e-3", "e-4"]], [NOON + 2001, ["e-3", "e-4"]]] as const
    ) {
      assert.deepEqual((await read(dir, { filter: { sinceMs } })).ids, ids);
    }
    assert.equal((await read(dir, { filter: { sinceMs: -1 } })).ids.length, 5);
    assert.equal((await read(dir, { filter: { sinceMs: 8.64e15 } })).ids.length, 0);
  });

  it("reads behind where the files ended, lines that were cut there left out", async () => {
    const dir = folder();
    const [third, fourth] = [lines(sample(3)), lines(sample(4))];
    write(dir, NAME, lines(sample(1), sample(2)) + third.slice(0, 9));
    const behind = await auditEnds({ dir, clock: systemClock });
    appendFileSync(join(dir, NAME), third.slice(9) + fourth);
    write(dir, "2026-11-30-2.jsonl", lines(sample(5)));
    assert.deepEqual((await read(dir, { behind })).ids, ["e-4", "e-5"]);
    const nothing = await auditEnds({ dir, clock: systemClock });
    assert.deepEqual((await read(dir, { behind: nothing })).ids, []);
    appendFileSync(join(dir, NAME), lines(sample(6)));
    assert.deepEqual((await read(dir, { behind: nothing })).ids, ["e-6"]);
  });

  it("leaves damaged lines out, tells their number once for each file, and reads on", async () => {
    const dir = folder();
    const bad = lines(sample(2)).replace("human", "agent");
    const foreign = JSON.stringify(sample(3)) + "\n";
    write(dir, NAME, lines(sample(1)) + bad + foreign + "\n\n" + "\0\0\0\n" + lines(sample(4)));
    write(dir, "2026-11-30-2.jsonl", bad + lines(sample(5)));
    const { ids, problems } = await read(dir);
    assert.deepEqual(ids, ["e-1", "e-4", "e-5"]);
    assert.deepEqual(problems.map(({ code, message }) => [code, message]), [
      ["W_AUDIT_DAMAGED", `${join(dir, NAME)}: 3 lines are damaged`],
      ["W_AUDIT_DAMAGED", `${join(dir, "2026-11-30-2.jsonl")}: 1 line is damaged`],
    ]);
  });

  it("skips a line without end in bounded pieces, and reads on after it", async () => {
    const dir = folder();
    write(dir, NAME, lines(sample(1)) + "x".repeat(3_000_000) + "\n" + lines(sample(2)));
    write(dir, "2026-11-30-2.jsonl", lines(sample(3)) + "x".repeat(3_000_000));
    const { ids, problems } = await read(dir);
    assert.deepEqual(ids, ["e-1", "e-2", "e-3"]);
    assert.deepEqual(problems.map(({ message }) => message.split(": ")[1]), [
      "1 line is damaged",
      "1 line is damaged",
    ]);
  });

  it("reads lines that cross its chunks", async () => {
    const dir = folder();
    const events = Array.from(
      { length: 500 },
      (_, n) => sample(n, { data: { pad: "é".repeat(n * 7 % 701) } }),
    );
    write(dir, NAME, lines(...events));
    assert.deepEqual((await read(dir)).lines.map(({ event }) => event), events);
  });

  it("merges files by time, equal times by file, and keeps the order of lines within a file", async () => {
    const dir = folder();
    write(dir, "2026-11-30-10.jsonl", lines(sample(1), sample(4), sample(7)));
    write(dir, "2026-11-30-9.jsonl", lines(sample(2), sample(4, { id: "nine" }), sample(5)));
    // The clock was set back while this one was written.
    write(dir, "2026-11-30-11.jsonl", lines(sample(6), sample(3), sample(8)));
    const { ids } = await read(dir);
    assert.deepEqual(ids, ["e-1", "e-2", "nine", "e-4", "e-5", "e-6", "e-3", "e-7", "e-8"]);
  });

  it("merges very many files", async () => {
    const dir = folder();
    for (let pid = 0; pid < 100; pid++) {
      const events = [0, 1, 2].map((n) =>
        sample(pid * 7 % 100 + n * 100, { id: `${pid * 7 % 100 + n * 100}` })
      );
      write(dir, `2026-11-30-${pid}.jsonl`, lines(...events));
    }
    const { ids } = await read(dir);
    assert.deepEqual(ids, Array.from({ length: 300 }, (_, n) => `${n}`));
  });

  it("reads days and parts in their order", async () => {
    const dir = folder();
    const at = (day: number) => ({ timestamp: new Date(NOON + day * 86_400_000).toISOString() });
    write(dir, "2026-12-02-1.jsonl", lines(sample(4, at(2))));
    write(dir, "2026-12-01-7.10.jsonl", lines(sample(3, at(1))));
    write(dir, "2026-12-01-7.2.jsonl", lines(sample(2, at(1))));
    write(dir, "2026-12-01-7.jsonl", lines(sample(1, at(1))));
    assert.deepEqual((await read(dir)).ids, ["e-1", "e-2", "e-3", "e-4"]);
  });

  it("leaves alone what is no file of the log, and tells of a file that it cannot read", async () => {
    const dir = folder();
    write(dir, "notes.jsonl", "x\n");
    write(dir, "2026-11-30-1.jsonl.bak", "x\n");
    write(dir, "2026-19-39-1.jsonl", "x\n");
    write(dir, NAME, lines(sample(1)));
    mkdirSync(join(dir, "2026-11-30-2.jsonl"));
    symlinkSync("2026-11-30-3.jsonl", join(dir, "2026-11-30-3.jsonl"));
    const { ids, problems } = await read(dir);
    assert.deepEqual(ids, ["e-1"]);
    assert.deepEqual(problems.map(({ code }) => code), ["E_FILE_UNREADABLE", "E_FILE_UNREADABLE"]);
  });

  it("tells of a folder that it cannot read", async () => {
    const dir = folder();
    write(dir, "events", "");
    const { problems } = await read(join(dir, "events"));
    assert.deepEqual(problems.map(({ code }) => code), ["E_FILE_UNREADABLE"]);
  });

  it("filters by session, types, groups and time, all of which must hold", async () => {
    const dir = folder();
    write(
      dir,
      NAME,
      lines(
        sample(1),
        sample(2, { session: "default/other" }),
        sample(3, { session: null, type: "audit_dropped", data: { count: 1 } }),
        sample(4, { type: "hook_failed" }),
        sample(5, { type: "from_the_future" }),
      ),
    );
    const ids = async (filter: Parameters<typeof read>[1]) => (await read(dir, filter)).ids.join(" ");
    assert.equal(await ids({ filter: { session: "default/main" } }), "e-1 e-4 e-5");
    assert.equal(await ids({ filter: { types: new Set(["hook_failed", "audit_dropped"]) } }), "e-3 e-4");
    assert.equal(await ids({ filter: { groups: new Set(["hook", "runtime"]) } }), "e-3 e-4");
    assert.equal(await ids({ filter: { sinceMs: NOON + 3000 } }), "e-3 e-4 e-5");
    assert.equal(await ids({ filter: { sinceMs: NOON + 86_400_000 } }), "");
    assert.equal(
      await ids({ filter: { session: "default/main", groups: new Set(["turn"]), sinceMs: NOON } }),
      "e-1",
    );
  });

  it("ends when its signal aborts", async () => {
    const dir = folder();
    write(dir, NAME, lines(...Array.from({ length: 100 }, (_, n) => sample(n))));
    assert.deepEqual((await read(dir, { signal: AbortSignal.abort() })).ids, []);
  });
});
