import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type AuditFilter, readAudit } from "../../src/audit/reader.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import type { Finding } from "../../src/errors/finding.ts";
import { folders, lines, NOON, sample, until, write } from "./helpers.ts";

const folder = folders();
const NAME = "2026-11-30-1.jsonl";

/** A follower on a clock that is moved by `poll`. */
function follow(dir: string, filter: AuditFilter = {}) {
  const clock = virtualClock(NOON);
  const stop = new AbortController();
  const ids: string[] = [];
  const problems: Finding[] = [];
  const onProblem = (problem: Finding) => problems.push(problem);
  const done = (async () => {
    for await (
      const line of readAudit({ dir, filter, clock, follow: true, signal: stop.signal, onProblem })
    ) {
      ids.push(line.event.id);
    }
  })();
  const idle = () => until("the follower waits", () => clock.armed() === 1);
  return {
    ids,
    problems,
    idle,
    /** Lets it look once more. */
    poll: async () => {
      await idle();
      await clock.advance(100);
      await idle();
    },
    stop: async () => {
      stop.abort();
      await done;
      assert.equal(clock.armed(), 0);
    },
  };
}

describe("the audit reader in follow mode", () => {
  it("gives what is there, then what is appended, and ends when told to", async () => {
    const dir = folder();
    write(dir, NAME, lines(sample(1)));
    const follower = follow(dir);
    await follower.idle();
    assert.deepEqual(follower.ids, ["e-1"]);
    appendFileSync(join(dir, NAME), lines(sample(2), sample(3)));
    await follower.poll();
    await follower.poll();
    assert.deepEqual(follower.ids, ["e-1", "e-2", "e-3"]);
    await follower.stop();
  });

  it("waits for the folder, and sees new files of any process, part and day", async () => {
    const dir = join(folder(), "events");
    const follower = follow(dir);
    await follower.poll();
    mkdirSync(dir);
    write(dir, NAME, lines(sample(1)));
    await follower.poll();
    write(dir, "2026-11-30-1.2.jsonl", lines(sample(2)));
    write(dir, "2026-11-30-7.jsonl", lines(sample(3)));
    await follower.poll();
    write(dir, "2026-12-01-1.jsonl", lines(sample(86_400)));
    await follower.poll();
    assert.deepEqual(follower.ids, ["e-1", "e-2", "e-3", "e-86400"]);
    await follower.stop();
  });

  it("holds a line back until it is complete, wherever it was cut", async () => {
    const dir = folder();
    write(dir, NAME, "");
    const follower = follow(dir);
    await follower.idle();
    const expected: string[] = [];
    const length = lines(sample(100)).length;
    for (const cut of [1, 20, length - 20, length - 1]) {
      const event = sample(100 + expected.length);
      const line = lines(event);
      appendFileSync(join(dir, NAME), line.slice(0, cut));
      await follower.poll();
      assert.deepEqual(follower.ids, expected, `cut after ${cut} bytes`);
      appendFileSync(join(dir, NAME), line.slice(cut));
      await follower.poll();
      expected.push(event.id);
      assert.deepEqual(follower.ids, expected, `completed after ${cut} bytes`);
    }
    assert.deepEqual(follower.problems, []);
    await follower.stop();
  });

  it("orders by time what several files got between two looks", async () => {
    const dir = folder();
    write(dir, NAME, "");
    write(dir, "2026-11-30-2.jsonl", "");
    const follower = follow(dir);
    await follower.idle();
    appendFileSync(join(dir, NAME), lines(sample(2), sample(3)));
    appendFileSync(join(dir, "2026-11-30-2.jsonl"), lines(sample(1), sample(4)));
    await follower.poll();
    assert.deepEqual(follower.ids, ["e-1", "e-2", "e-3", "e-4"]);
    await follower.stop();
  });

  it("gives nothing twice when a failed write is taken back and repeated", async () => {
    const dir = folder();
    const good = lines(sample(1));
    const batch = lines(sample(2), sample(3));
    write(dir, NAME, good + batch.slice(0, -30));
    const follower = follow(dir);
    await follower.idle();
    assert.deepEqual(follower.ids, ["e-1", "e-2"]);
    truncateSync(join(dir, NAME), good.length);
    await follower.poll();
    appendFileSync(join(dir, NAME), batch);
    await follower.poll();
    assert.deepEqual(follower.ids, ["e-1", "e-2", "e-3"]);
    await follower.stop();
  });

  it("reads a file from its begin when another took its name", async () => {
    const dir = folder();
    write(dir, NAME, lines(sample(1)));
    const follower = follow(dir);
    await follower.idle();
    renameSync(join(dir, NAME), join(dir, "old"));
    write(dir, NAME, lines(sample(2), sample(3)));
    await follower.poll();
    assert.deepEqual(follower.ids, ["e-1", "e-2", "e-3"]);
    await follower.stop();
  });

  it("tells once of a file that it cannot read, and follows the others", async () => {
    const dir = folder();
    mkdirSync(join(dir, "2026-11-30-2.jsonl"));
    const follower = follow(dir);
    await follower.poll();
    write(dir, NAME, lines(sample(1)));
    await follower.poll();
    assert.deepEqual(follower.ids, ["e-1"]);
    assert.deepEqual(follower.problems.map(({ code }) => code), ["E_FILE_UNREADABLE"]);
    await follower.stop();
  });

  it("tells of damage in a file once, and filters what it follows", async () => {
    const dir = folder();
    write(dir, NAME, lines(sample(1)));
    const follower = follow(dir, { session: "default/other" });
    await follower.idle();
    for (let n = 2; n <= 3; n++) {
      appendFileSync(join(dir, NAME), "damaged\n" + lines(sample(n, { session: "default/other" })));
      await follower.poll();
    }
    assert.deepEqual(follower.ids, ["e-2", "e-3"]);
    assert.deepEqual(follower.problems.map(({ code }) => code), ["W_AUDIT_DAMAGED"]);
    await follower.stop();
  });
});
