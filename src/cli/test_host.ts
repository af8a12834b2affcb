import { createServer } from "node:net";
import process from "node:process";
import { type Clock, systemClock } from "../clock/clock.ts";
import { randomIds } from "../clock/ids.ts";
import { type VirtualClock, virtualClock } from "../clock/virtual_clock.ts";
import type { Host } from "./host.ts";

/**
 * The host of the test binary. `REYN_TEST_CLOCK=<socket>` makes time stand still until told otherwise on that Unix
 * socket (`advance <ms>`, `step <ms>`, `now`, one a line); `REYN_TEST_KILL_AT=<label>[:<n>]` ends the process with SIGKILL the
 * n-th time it passes a labelled point. The shipped binary holds none of this.
 */
export function testHost(): Host {
  const socket = process.env["REYN_TEST_CLOCK"];
  const killAt = process.env["REYN_TEST_KILL_AT"];
  const clock = socket === undefined ? undefined : virtualClock();
  if (clock && socket !== undefined) listen(clock, socket);
  return {
    clock: clock ?? systemClock,
    ioClock: clock ? withTimeOf(clock) : systemClock,
    ids: randomIds(),
    fault: killAt === undefined ? () => {} : killerAt(killAt),
  };
}

/** Stamps like the virtual clock, paces like the real one. */
function withTimeOf(clock: VirtualClock): Clock {
  return { now: () => clock.now(), monotonic: () => systemClock.monotonic(), after: systemClock.after };
}

function killerAt(spec: string): (label: string) => void {
  const [, wanted = spec, times = "1"] = /^(.*?)(?::(\d+))?$/.exec(spec) ?? [];
  let left = Number(times);
  return (label) => {
    if (label === wanted && --left === 0) process.kill(process.pid, "SIGKILL");
  };
}

function listen(clock: VirtualClock, path: string): void {
  const server = createServer((connection) => {
    let rest = "";
    connection.setEncoding("utf8");
    connection.on("error", () => {});
    connection.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) void answer(clock, line).then((reply) => connection.write(`${reply}\n`));
    });
  });
  server.listen(path);
  server.unref();
}

async function answer(clock: VirtualClock, line: string): Promise<string> {
  const [verb, argument] = line.trim().split(" ");
  if (verb === "now") return String(clock.now());
  if (verb === "step") {
    clock.step(Number(argument));
    return "ok";
  }
  if (verb !== "advance") return `error: unknown request ${verb}`;
  await clock.advance(Number(argument));
  return "ok";
}
