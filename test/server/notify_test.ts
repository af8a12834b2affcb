import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { openNotifier } from "../../src/server/notify.ts";

function setup(env: Record<string, string>, fails = false) {
  const clock = virtualClock();
  const sent: string[] = [];
  const problems: string[] = [];
  const open = openNotifier({
    env,
    clock,
    onProblem: (reason) => problems.push(reason),
    sender: () =>
      Promise.resolve((address, text) => {
        if (fails) throw new Error("nobody there");
        sent.push(`${address} ${text}`);
      }),
  });
  return { clock, sent, problems, open };
}

describe("telling the service manager", () => {
  it("says nothing where no manager wants to know", async () => {
    const { clock, sent, problems, open } = setup({ WATCHDOG_USEC: "1000000" });
    const notifier = await open;
    notifier.ready("x");
    await clock.advance(10_000);
    notifier.stopping();
    assert.deepEqual([sent, problems], [[], []]);
  });

  it("says when it is ready and when it stops, on one line each", async () => {
    const { sent, open } = setup({ NOTIFY_SOCKET: "@m" });
    const notifier = await open;
    notifier.ready("listens on x\nMAINPID=1");
    notifier.stopping();
    notifier.close();
    assert.deepEqual(sent, ["@m READY=1\nSTATUS=listens on x MAINPID=1\n", "@m STOPPING=1\n"]);
  });

  it("feeds the watchdog twice in its time from ready to close, while it stops too", async () => {
    const { clock, sent, open } = setup({
      NOTIFY_SOCKET: "@m",
      WATCHDOG_USEC: "2000000",
      WATCHDOG_PID: String(process.pid),
    });
    const notifier = await open;
    await clock.advance(5_000);
    const fed = () => sent.filter((text) => text === "@m WATCHDOG=1\n").length;
    assert.equal(fed(), 0, "not before it is ready: a start may take its time");
    notifier.ready("x");
    await clock.advance(3_000);
    assert.equal(fed(), 4);
    notifier.stopping();
    await clock.advance(2_000);
    assert.equal(fed(), 6);
    notifier.close();
    await clock.advance(5_000);
    assert.equal(fed(), 6);
  });

  it("leaves the watchdog of another process alone", async () => {
    const { clock, sent, open } = setup({ NOTIFY_SOCKET: "@m", WATCHDOG_USEC: "1000000", WATCHDOG_PID: "1" });
    (await open).ready("x");
    await clock.advance(5_000);
    assert.equal(sent.length, 1);
  });

  it("tells once that the manager cannot be reached, and goes on", async () => {
    const { clock, problems, open } = setup({ NOTIFY_SOCKET: "@m", WATCHDOG_USEC: "1000000" }, true);
    const notifier = await open;
    notifier.ready("x");
    await clock.advance(5_000);
    notifier.stopping();
    assert.deepEqual(problems, ["nobody there"]);
  });
});
