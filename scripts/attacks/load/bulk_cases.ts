import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pushesOf } from "../../../test/sandbox/attack/reyn_runner.ts";
import type { LoadCase, LoadTools, Watched } from "./tools.ts";

/** What hooks may cost the runtime in memory, over a run with a hook that does nothing; it was well below in every measurement. */
const MOST_MIB = 150;
const MIB = 1024 * 1024;

let plain: Promise<number> | undefined;

/** Says how far the runtime grew, and fails when that is too much. */
async function memory(run: Watched, { start }: LoadTools): Promise<string> {
  plain ??= start([{ exec: ["/bin/true"] }]).then(({ peakMib }) => peakMib);
  const base = await plain;
  assert.ok(run.peakMib < base + MOST_MIB, `${run.peakMib} MiB, ${base} MiB with nothing to do`);
  return `VmHWM ${run.peakMib} MiB (${base} with nothing to do)`;
}

/** Adds a sign when it starts and when it ends, 100 ms apart. */
const MARK = 'open F, ">>", "out/log"; syswrite F, "+"; select undef, undef, undef, 0.1; syswrite F, "-"';

export const bulkCases: readonly LoadCase[] = [
  {
    name: "50 hooks at once, 8 at a time, all end",
    async run(tools) {
      const hooks = Array.from({ length: 50 }, () => ({
        on: "turn_end",
        await: false,
        overlap: "parallel",
        exec: ["perl", "-e", MARK],
        write_paths: ["out"],
      }));
      const run = await tools.start(hooks);
      assert.equal(run.code, 0, run.stderr);
      assert.deepEqual(run.executed.map(({ outcome }) => outcome), hooks.map(() => "ok"));
      const log = readFileSync(`${tools.controlDir}/out/log`, "utf8");
      assert.equal(log.replaceAll("-", "").length, 50);
      assert.equal(log.replaceAll("+", "").length, 50);
      let now = 0;
      let most = 0;
      for (const sign of log) {
        now += sign === "+" ? 1 : -1;
        most = Math.max(most, now);
      }
      assert.ok(most <= 8, `${most} ran at once`);
      assert.ok(most >= 2, "they ran one after the other");
      return `50 ok, at most ${most} at once, ${await memory(run, tools)}`;
    },
  },
  {
    name: "an endless writer is drained, and ends at its timeout",
    async run(tools) {
      const run = await tools.start([{ exec: ["/usr/bin/yes"], timeout: "2s" }]);
      assert.deepEqual(run.executed.map(({ outcome }) => outcome), ["timeout"]);
      return await memory(run, tools);
    },
  },
  {
    name: "an endless writer to stderr is drained as well",
    async run(tools) {
      const run = await tools.start([{
        exec: ["/bin/sh", "-c", "exec yes >&2"],
        timeout: "2s",
      }]);
      assert.deepEqual(run.executed.map(({ outcome }) => outcome), ["timeout"]);
      return await memory(run, tools);
    },
  },
  {
    name: "an endless writer that is captured ends at the limit of output",
    async run(tools) {
      const run = await tools.start([{ exec_capture: ["/usr/bin/yes"], timeout: "20s" }]);
      assert.deepEqual(run.executed.map(({ outcome }) => outcome), ["output_limit"]);
      const ms = Number(run.executed[0]?.["duration_ms"]);
      assert.ok(ms < 5000, `after ${ms} ms`);
      return `after ${ms} ms, ${await memory(run, tools)}`;
    },
  },
  {
    name: "an event of 1 MiB: read whole, never read, half read",
    async run(tools) {
      const count =
        `$n = 0; $n += length while <STDIN>; print qq({"push_when":true,"wake":false,"message":"read $n"})`;
      const run = await tools.start([
        { on: "turn_end", exec_capture: ["perl", "-e", count] },
        { on: "turn_end", exec: ["/bin/true"] },
        { on: "turn_end", exec: ["perl", "-e", "select undef, undef, undef, 0.5"] },
        { on: "turn_end", exec: ["/usr/bin/head", "-c", "100000"] },
      ], { message: "x".repeat(MIB) });
      assert.deepEqual(run.executed.map(({ outcome }) => outcome), ["ok", "ok", "ok", "ok"]);
      const said = pushesOf(run);
      const read = Number(said[0]?.replace("read ", ""));
      assert.ok(read > MIB, `${said.join()}`);
      return `${read} bytes read, ${await memory(run, tools)}`;
    },
  },
];
