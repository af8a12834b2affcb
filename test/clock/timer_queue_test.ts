import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Clock, systemClock } from "../../src/clock/clock.ts";
import { steadyTime } from "../../src/clock/steady.ts";
import { createTimerQueue } from "../../src/clock/timer_queue.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";

function fail(error: unknown): void {
  throw error;
}

/** A virtual clock whose wall-clock time can be set without time going by. */
function settable() {
  const inner = virtualClock();
  let shift = 0;
  const clock: Clock = {
    now: () => inner.now() + shift,
    monotonic: () => inner.monotonic(),
    after: (delayMs, callback) => inner.after(delayMs, callback),
  };
  return {
    clock,
    advance: (ms: number) => inner.advance(ms),
    armed: () => inner.armed(),
    setBy: (ms: number) => shift += ms,
  };
}

describe("the timer queue", () => {
  it("calls back in order of due time, and in the order armed where that is one", async () => {
    const clock = virtualClock();
    const timers = createTimerQueue(clock, fail);
    const calls: string[] = [];
    const start = timers.now();
    for (
      const [name, ms] of [["c", 30], ["a", 10], ["b", 20], ["b2", 20], ["now", 0], ["past", -5]] as const
    ) {
      timers.at(start + ms, () => calls.push(`${name}@${timers.now() - start}`));
    }
    assert.deepEqual(calls, []);
    await clock.advance(30);
    assert.deepEqual(calls, ["past@0", "now@0", "a@10", "b@20", "b2@20", "c@30"]);
  });

  it("is behind one timer of the platform, however many are armed", async () => {
    const clock = virtualClock();
    const timers = createTimerQueue(clock, fail);
    let calls = 0;
    for (let at = 10_000; at > 0; at--) timers.at(timers.now() + at, () => calls += 1);
    assert.equal(timers.armed, 10_000);
    assert.equal(clock.armed(), 1);
    await clock.advance(50);
    assert.equal(calls, 50);
    timers.close();
    assert.equal(timers.armed, 0);
    assert.equal(clock.armed(), 0);
  });

  it("never calls what was cancelled, and does not hoard it", async () => {
    const clock = virtualClock();
    const timers = createTimerQueue(clock, fail);
    const calls: number[] = [];
    const armed = Array.from(
      { length: 1000 },
      (_, n) => timers.at(timers.now() + n + 1, () => calls.push(n)),
    );
    for (const [n, timer] of armed.entries()) if (n % 100 !== 0) timer.cancel();
    armed[1]?.cancel();
    assert.equal(timers.armed, 10);
    await clock.advance(1000);
    assert.deepEqual(calls, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
    armed[0]?.cancel();
    assert.equal(timers.armed, 0);
  });

  it("goes on when a callback throws", async () => {
    const clock = virtualClock();
    const errors: unknown[] = [];
    const timers = createTimerQueue(clock, (error) => errors.push(error));
    let called = false;
    timers.at(timers.now() + 1, () => {
      throw new Error("of this one");
    });
    timers.at(timers.now() + 1, () => called = true);
    await clock.advance(1);
    assert.equal(called, true);
    assert.equal(errors.length, 1);
  });

  it("waits exactly beyond the longest timer of the platform", async () => {
    const clock = virtualClock();
    const timers = createTimerQueue(clock, fail);
    const due = 720 * 3_600_000;
    assert.ok(due > 2 ** 31);
    let called = false;
    timers.at(timers.now() + due, () => called = true);
    await clock.advance(due - 1);
    assert.equal(called, false);
    await clock.advance(1);
    assert.equal(called, true);
  });

  it("does not call early in real time what lies beyond it", async () => {
    const timers = createTimerQueue(systemClock, fail);
    let called = false;
    timers.at(timers.now() + 720 * 3_600_000, () => called = true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(called, false);
    timers.close();
  });

  it("neither shortens nor lengthens a wait when the wall clock is set", async () => {
    for (const jump of [3_600_000, -3_600_000]) {
      const { clock, advance, setBy } = settable();
      const timers = createTimerQueue(clock, fail);
      let called = false;
      timers.at(timers.now() + 1000, () => called = true);
      await advance(500);
      setBy(jump);
      await advance(499);
      assert.equal(called, false);
      await advance(1);
      assert.equal(called, true);
    }
  });
});

describe("steady time", () => {
  it("shows instants as the wall clock is set now, and one instant always as one number", () => {
    const { clock, setBy } = settable();
    const time = steadyTime(clock);
    const at = time.now();
    const wall = clock.now();
    assert.equal(time.toWall(at), wall);
    setBy(3);
    assert.equal(time.toWall(at), wall);
    setBy(3_600_000);
    assert.equal(time.toWall(at), wall + 3_600_003);
    assert.equal(time.fromWall(time.toWall(at)), at);
  });
});
