import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { Readable } from "node:stream";
import { runReyn } from "./reyn_runner.ts";
import { makeWorld, removeWorld, SECRET, type Surroundings } from "./world.ts";

/**
 * Family 18: what a careless runtime leaves open. The helper is started with descriptors of a secret, of a file for writing and of a
 * socket; the program must have none of them. Gives how many cases it was.
 */
export async function inheritedDescriptors(shared: Surroundings, helper: string): Promise<number> {
  const attacks = [["open_descriptors"], ["use_descriptor", "4", "0"], ["use_descriptor", "5", "1"], [
    "use_descriptor",
    "6",
    "0",
  ]];
  for (const attack of attacks) {
    const world = makeWorld(shared);
    const secret = openSync(`${world.home}/.ssh/id_rsa`, "r");
    const writable = openSync(`${world.outside}/file.txt`, "r+");
    try {
      const args = [
        "--report-fd",
        "3",
        "--runtime-pid",
        String(process.pid),
        "--deny",
        `${world.home}/.ssh`,
        "--",
      ];
      const child = spawn(helper, [...args, shared.attacker, ...attack], {
        env: {},
        stdio: ["ignore", "pipe", "ignore", "pipe", secret, writable, "pipe"],
      });
      let stdout = "";
      (child.stdout as Readable).setEncoding("utf8").on("data", (text: string) => (stdout += text));
      (child.stdio[3] as Readable).resume();
      await new Promise((resolve) => child.on("close", resolve));
      assert.match(stdout, /"errno":9,/, `${attack.join(" ")}: ${stdout}`);
      assert.ok(!stdout.includes(SECRET));
    } finally {
      closeSync(secret);
      closeSync(writable);
      removeWorld(world);
    }
  }
  return attacks.length;
}

/** The same, of a reyn that was itself started with them: its hooks must have none. */
export async function inheritedThroughReyn(shared: Surroundings, reyn: string): Promise<number> {
  const attacks = [["open_descriptors"], ["use_descriptor", "3", "0"], ["use_descriptor", "4", "1"]];
  for (const attack of attacks) {
    const world = makeWorld(shared);
    const secret = openSync(`${world.home}/.ssh/id_rsa`, "r");
    const writable = openSync(`${world.outside}/file.txt`, "r+");
    try {
      rmSync(`${world.control}/.reyn`, { recursive: true });
      const hook = { on: "session_start", exec: [shared.attacker, ...attack] };
      writeFileSync(
        `${world.control}/reyn.yaml`,
        JSON.stringify({ model: { provider: "echo" }, hooks: [hook] }),
      );
      const run = await runReyn({
        reyn,
        controlDir: world.control,
        home: world.home,
        descriptors: [secret, writable],
      });
      const told = JSON.stringify(run);
      assert.match(told, /result -1 errno 9 /, `${attack.join(" ")}: ${told}`);
      assert.ok(!told.includes(SECRET));
    } finally {
      closeSync(secret);
      closeSync(writable);
      removeWorld(world);
    }
  }
  return attacks.length;
}
