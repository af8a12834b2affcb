import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { pushesOf } from "../../../test/sandbox/attack/reyn_runner.ts";
import { isHelper, kill, type LoadCase, type LoadTools, pause, until } from "./tools.ts";

const outcomes = (run: { executed: Record<string, unknown>[] }) => run.executed.map(({ outcome }) => outcome);
const subprocess = { subprocess: true };
const TREE =
  'trap "" TERM HUP INT; (trap "" TERM HUP INT; while :; do sleep 1; done) & setsid sleep 300 & while :; do sleep 1; done';

/** Waits for commands besides helpers; gives the helper. */
async function running({ alive }: LoadTools, commands: number): Promise<number> {
  const found = () => alive().filter((pid) => !isHelper(pid)).length >= commands && alive().some(isHelper);
  await until("the command runs", found);
  await pause(200);
  return alive().find(isHelper) ?? 0;
}

export const faultCases: readonly LoadCase[] = [
  {
    name: "a storm of processes stays within its budget",
    async run(tools) {
      const run = await tools.start([{
        exec: [tools.attacker, "fork_storm", "60000"],
        ...subprocess,
        timeout: "2s",
      }]);
      assert.deepEqual(outcomes(run), ["timeout"]);
      assert.ok(run.mostProcesses > 10 && run.mostProcesses <= 66, `${run.mostProcesses} processes`);
      return `at most ${run.mostProcesses} processes with the helper, gone after ${await tools.gone()} ms`;
    },
  },
  {
    name: "a fork bomb with subprocess makes as many as its budget allows",
    async run(tools) {
      const run = await tools.start([{ exec_capture: [tools.attacker, "fork_bomb", "500"], ...subprocess }]);
      const [push = ""] = pushesOf(run);
      const made = Number(/^result (\d+)/.exec(push)?.[1] ?? -1);
      assert.ok(made > 10 && made < 64, `it made ${made}`);
      return `${made} of 500 made, gone after ${await tools.gone()} ms`;
    },
  },
  {
    name: "a storm at the floor makes nothing",
    async run(tools) {
      const run = await tools.start([{ exec: [tools.attacker, "fork_storm", "60000"], timeout: "1s" }]);
      assert.deepEqual(outcomes(run), ["timeout"]);
      assert.ok(run.mostProcesses <= 2, `${run.mostProcesses} processes`);
      return `at most ${run.mostProcesses} processes with the helper`;
    },
  },
  {
    name: "daemons that left session and parent are gone",
    async run(tools) {
      const hooks = Array.from(
        { length: 5 },
        () => ({ exec: [tools.attacker, "daemons", "40"], ...subprocess }),
      );
      const run = await tools.start(hooks);
      assert.deepEqual(outcomes(run), hooks.map(() => "ok"));
      return `5 times 40 daemons, gone after ${await tools.gone()} ms`;
    },
  },
  {
    name: "trees that ignore TERM end at their timeout",
    async run(tools) {
      const run = await tools.start([{ exec: ["/bin/sh", "-c", TREE], ...subprocess, timeout: "500ms" }]);
      assert.deepEqual(outcomes(run), ["timeout"]);
      const ms = Number(run.executed[0]?.["duration_ms"]);
      assert.ok(ms < 4000, `${ms} ms`);
      return `ended after ${ms} ms, gone after ${await tools.gone()} ms`;
    },
  },
  {
    name: "a stopped command ends at its timeout",
    async run(tools) {
      const run = await tools.start([{ exec: [tools.attacker, "stop_self"], timeout: "500ms" }]);
      assert.deepEqual(outcomes(run), ["timeout"]);
      return `ended after ${Number(run.executed[0]?.["duration_ms"])} ms`;
    },
  },
  {
    name: "kill -9 of the runtime, a command at the floor",
    run: (tools) => killedRuntime(tools, ["/bin/sh", "-c", 'trap "" TERM; while :; do :; done'], {}, 1),
  },
  {
    name: "kill -9 of the runtime, a tree that ignores TERM",
    run: (tools) => killedRuntime(tools, ["/bin/sh", "-c", TREE], subprocess, 4),
  },
  {
    name: "kill -9 of the runtime, daemons",
    run: (tools) =>
      killedRuntime(
        tools,
        ["/bin/sh", "-c", `${tools.attacker} daemons 12; while :; do :; done`],
        subprocess,
        10,
      ),
  },
  {
    name: "SIGTERM to the runtime ends its commands, and it says why",
    async run(tools) {
      const run = await tools.start([{ exec: ["/bin/sh", "-c", TREE], ...subprocess }], {
        async during({ child }) {
          await running(tools, 4);
          child.kill("SIGTERM");
        },
      });
      assert.equal(run.code, 143, run.stderr);
      return `exit ${run.code}, gone after ${await tools.gone()} ms`;
    },
  },
  {
    name: "kill -9 of the helper, a command at the floor",
    async run(tools) {
      const run = await tools.start([{ exec: ["/bin/sh", "-c", "while :; do :; done"] }, {
        exec: ["/bin/true"],
      }], {
        during: async () => kill(await running(tools, 1)),
      });
      assert.deepEqual(outcomes(run), ["signal", "ok"]);
      assert.equal(run.code, 0, run.stderr);
      return `recorded as a signal, the next hook ran, gone after ${await tools.gone()} ms`;
    },
  },
  {
    name: "kill -9 of the helper with children: what outlives it can make no process",
    async run(tools) {
      const { controlDir } = tools;
      const script =
        `setsid sh -c 'sleep 1; echo here > ${controlDir}/out/here; x=$(/bin/echo made) && echo made > ${controlDir}/out/made' & sleep 300 & wait`;
      const run = await tools.start([{
        exec: ["/bin/sh", "-c", script],
        ...subprocess,
        write_paths: ["out"],
      }], {
        during: async () => kill(await running(tools, 4)),
      });
      assert.deepEqual(outcomes(run), ["signal"]);
      await pause(1500);
      assert.ok(!existsSync(`${controlDir}/out/made`), "it made a process");
      const outlived = existsSync(`${controlDir}/out/here`);
      return `${
        outlived ? "the one that had left the session lived on" : "nothing lived on"
      }, nothing was made`;
    },
  },
];

async function killedRuntime(
  tools: LoadTools,
  exec: string[],
  grants: Record<string, unknown>,
  commands: number,
): Promise<string> {
  let after = -1;
  let most = 0;
  await tools.start([{ exec, ...grants }], {
    async during({ pid }) {
      await running(tools, commands);
      most = tools.alive().length;
      kill(pid);
      after = await tools.gone();
    },
  });
  assert.ok(after >= 0, "it was not killed");
  return `${most} processes, gone after ${after} ms`;
}
