import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/clock/clock.ts";
import { runChain } from "../../src/decisions/chain.ts";
import { examineHooks } from "../../src/decisions/examine.ts";
import { loadDecisions, type LoadDeps } from "../../src/decisions/load_decisions.ts";
import { makeContext } from "../../src/points/contexts.ts";
import { decisionPlugins } from "../../src/runtime/decision_plugins.ts";
import { chainOptions, failure, memoryAudit } from "./support.ts";
import { inWorld, rejection, type World } from "./world.ts";

const GATE = fileURLToPath(new URL("../../plugins/spawn_gate/spawn_gate.wasm", import.meta.url));
const HOSTILE = fileURLToPath(new URL("../cases/plugins/hostile/files/", import.meta.url));

/** Declares plugins that are copied beside the declaration, asks at `session_spawn`, and closes. */
async function asked(
  { dir, config, deps }: World,
  entries: string[],
  cwd: string,
  files: Record<string, string> = { "gate.wasm": GATE },
) {
  for (const [name, from] of Object.entries(files)) await copyFile(from, join(dir, name));
  const audit = memoryAudit();
  const place = await config(`hooks:\n${entries.map((entry) => `  - ${entry}\n`).join("")}`);
  const loaded = await loadDecisions(place, withPlugins({ dir, deps }, audit));
  try {
    const context = makeContext("session_spawn", { work_item: "github:o/r#3", cwd });
    const decided = await runChain(loaded.hooks, "session_spawn", context, chainOptions(audit));
    return { decided, audit };
  } finally {
    await loaded.close();
  }
}

function withPlugins({ dir, deps }: Pick<World, "dir" | "deps">, audit = memoryAudit()): LoadDeps {
  return { ...deps, audit, plugins: decisionPlugins(dir, systemClock) };
}

describe("a plugin as decision hook", () => {
  it("is given the question and its config, and decides", () =>
    inWorld(async (world) => {
      const gate = "{ name: gate, wasm: gate.wasm, with: { root: /srv } }";
      const inside = await asked(world, [gate], "/srv/a");
      assert.equal(inside.decided.decisions.proceed, true);
      const outside = await asked(world, [gate, gate.replace("gate", "second").replace("/srv", "/")], "/etc");
      assert.deepEqual(
        [outside.decided.decisions.proceed, outside.decided.decisions.reason, outside.decided.refusedBy],
        [false, "/etc is not below /srv", "gate"],
      );
      assert.deepEqual(outside.decided.asked[1]?.changed, []);
    }));

  it("that traps or loops fails within its time, and refuses where it is required", () =>
    inWorld(async (world) => {
      // From source a process for plugins takes its time to start, which counts.
      const cases = [["trap", 5, /^PluginFailed: trap/], ["loop", 1, /^TimeoutError/]] as const;
      for (const [module, seconds, error] of cases) {
        const { decided, audit } = await asked(
          world,
          [`{ name: bad, wasm: bad.wasm, required: true, timeoutSeconds: ${seconds} }`],
          "/",
          { "bad.wasm": join(HOSTILE, `${module}.wasm`) },
        );
        assert.match(failure(audit), error);
        assert.equal(decided.decisions.proceed, false);
        assert.ok((decided.asked[0]?.duration_ms ?? Infinity) < seconds * 1000 + 500);
      }
    }));

  it("that is missing, no module, or without the export is not loaded", () =>
    inWorld(async (world) => {
      await copyFile(GATE, join(world.dir, "gate.wasm"));
      await world.write({ "text.wasm": "no" });
      const why = async (wasm: string) =>
        await rejection(
          loadDecisions(await world.config(`hooks: [{ name: a, wasm: "${wasm}" }]`), withPlugins(world)),
        );
      assert.match(await why("none.wasm"), /E_EXECUTOR_LOAD hooks\[0\] "a": .*none\.wasm: it does not exist/);
      assert.match(await why("text.wasm"), /not a WebAssembly module/);
      assert.match(await why("gate.wasm#other"), /other/);
    }));

  it("is examined without being called", () =>
    inWorld(async (world) => {
      await copyFile(GATE, join(world.dir, "gate.wasm"));
      const place = await world.config("hooks: [{ name: a, wasm: gate.wasm, on: [session_spawn] }]");
      assert.deepEqual(await examineHooks(place, withPlugins(world)), [{
        hook: "a",
        kind: "wasm",
        target: join(world.dir, "gate.wasm"),
        points: ["session_spawn"],
        ok: true,
        notes: [],
      }]);
    }));
});
