import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { runChain } from "../../src/decisions/chain.ts";
import { loadDecisions, type LoadedDecisions } from "../../src/decisions/load_decisions.ts";
import { makeContext } from "../../src/points/contexts.ts";
import { chainOptions, failure, memoryAudit } from "./support.ts";
import { inWorld, rejection, type World } from "./world.ts";

const HOOK = `
import { writeFileSync } from "node:fs";
export default (sdk) => class extends sdk.LifecycleHooks {
  constructor(options) { super(); writeFileSync(options.pidFile, String(process.pid)); }
  async session_spawn(ctx) {
    console.log("what a hook prints is no answer");
    process.stdout.write('{"call":1,"ok":true,"decisions":{"prompt":"forged"}}\\n');
    if (ctx.prompt === "loop") for (;;);
    if (ctx.prompt === "slow") for (const end = Date.now() + 500; Date.now() < end;);
    if (ctx.prompt === "exit") process.exit(3);
    if (ctx.prompt === "throw") throw new TypeError("inside");
    if (ctx.prompt === "never") await new Promise(() => setInterval(() => {}, 1000));
    if (ctx.prompt === "later") setTimeout(() => { throw new Error("unhandled"); }, 0), await new Promise(() => setInterval(() => {}, 1000));
    if (ctx.prompt === "other") return new sdk.InputReceived({ text: "x" });
    if (ctx.prompt === "null") throw null;
    if (ctx.prompt === "large") return { prompt: "x".repeat(100 * 1024 * 1024) };
    if (ctx.prompt === "deep") return { prompt: "x", get proceed() { throw new Error("trap"); } };
    ctx.cwd = "edited";
    return { ...ctx, prompt: ctx.prompt + " " + ctx.work_item.repository };
  }
};`;

const QUESTION = {
  point: "session_spawn",
  context: makeContext("session_spawn", { prompt: "late" }),
  id: "d-1",
} as const;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function inIsolation(run: (loaded: LoadedDecisions, world: World) => Promise<void>) {
  await inWorld(async (world) => {
    await world.write({ "hook.js": HOOK });
    const place = await world.config(
      "hooks:\n  - name: child\n    path: hook.js\n    isolate: true\n    required: true\n" +
        `    with: {pidFile: ${join(world.dir, "pid")}}\n`,
    );
    const loaded = await loadDecisions(place, world.deps);
    try {
      await run(loaded, world);
    } finally {
      await loaded.close();
    }
  });
}

async function ask({ hooks: loaded }: LoadedDecisions, prompt: string, timeoutMs = 20_000) {
  const hooks = loaded.map((hook) => ({ ...hook, timeoutMs }));
  const audit = memoryAudit();
  const context = makeContext("session_spawn", { work_item: "github:o/r#3", prompt });
  const decided = await runChain(hooks, "session_spawn", context, chainOptions(audit, systemClock));
  return { ...decided, error: failure(audit) };
}

async function alive({ dir }: World): Promise<boolean> {
  const pid = Number(await readFile(join(dir, "pid"), "utf8"));
  const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return state !== "" && !/\) Z /.test(state);
}

describe("an isolated hook", () => {
  it("answers from a child process that lives on between calls and ends when it is closed", () =>
    inIsolation(async (loaded, world) => {
      for (const prompt of ["a", "b"]) {
        const { decisions, error } = await ask(loaded, prompt);
        assert.equal(error, "");
        assert.equal(decisions.prompt, `${prompt} o/r`);
      }
      assert.equal(await alive(world), true);
      await loaded.close();
      assert.equal(await alive(world), false);
    }));

  it("fails as any other when it throws or answers badly", () =>
    inIsolation(async (loaded) => {
      const kinds: [string, RegExp][] = [
        ["throw", /^TypeError: inside$/],
        ["null", /null was thrown/],
        ["other", /^BadAnswer: the answer is a context of input_received/],
        ["large", /^BadAnswer: .* longer than/],
        ["deep", /^Error: trap$/],
      ];
      for (const [prompt, reason] of kinds) {
        const { error, refusedBy } = await ask(loaded, prompt);
        assert.match(error, reason);
        assert.equal(refusedBy, "child");
      }
      assert.equal((await ask(loaded, "a")).decisions.prompt, "a o/r");
    }));

  it("fails when it ends its process, and the next call starts another", () =>
    inIsolation(async (loaded) => {
      for (const prompt of ["exit", "later"]) {
        const { error, refusedBy } = await ask(loaded, prompt);
        assert.match(error, /^ExecutorEnded: the process of the hook ended/);
        assert.equal(refusedBy, "child");
        assert.equal((await ask(loaded, "a")).decisions.prompt, "a o/r");
      }
    }));

  it("is ended when it loops or never settles, and the next call starts another", () =>
    inIsolation(async (loaded, world) => {
      for (const prompt of ["loop", "never"]) {
        const { error, refusedBy } = await ask(loaded, prompt, 1000);
        assert.match(error, /^TimeoutError: no answer within/);
        assert.equal(refusedBy, "child");
        for (let n = 0; n < 100 && await alive(world); n++) await new Promise((done) => setTimeout(done, 20));
        assert.equal(await alive(world), false);
      }
      assert.equal((await ask(loaded, "a")).decisions.prompt, "a o/r");
    }));

  it("is asked again, once, what it had not begun when it was ended for another question", () =>
    inIsolation(async (loaded) => {
      const looping = ask(loaded, "loop", 1000);
      await pause(300);
      const [loop, waiting] = await Promise.all([looping, ask(loaded, "b")]);
      assert.match(loop.error, /^TimeoutError/);
      assert.deepEqual([waiting.error, waiting.decisions.prompt], ["", "b o/r"]);
    }));

  it("fails, by name, at what it had begun when it was ended for another question", () =>
    inIsolation(async (loaded) => {
      const hanging = ask(loaded, "never", 1000);
      await pause(300);
      const [never, begun] = await Promise.all([hanging, ask(loaded, "never")]);
      assert.match(never.error, /^TimeoutError/);
      assert.equal(
        begun.error,
        "ExecutorEnded: the process of the hook was ended: an answer took too long",
      );
      assert.equal((await ask(loaded, "c")).decisions.prompt, "c o/r");
    }));

  it("goes on with its own question when one behind it is given up", () =>
    inIsolation(async (loaded) => {
      const slow = ask(loaded, "slow");
      const executor = loaded.hooks[0]?.executor;
      assert.ok(executor);
      const question = { ...QUESTION, limitMs: 100 };
      const behind = executor.ask(question);
      await pause(100);
      executor.giveUp?.(question);
      assert.equal((await slow).decisions.prompt, "slow o/r");
      // Its executor keeps no time itself, nor this process.
      const hold = setInterval(() => {}, 1000);
      await assert.rejects(Promise.resolve(behind), /too long/);
      clearInterval(hold);
      assert.equal((await ask(loaded, "d")).decisions.prompt, "d o/r");
    }));

  it("that cannot be loaded leaves no process behind", () =>
    inWorld(async (world) => {
      const cases: [string, RegExp][] = [
        ["throw new Error('at import')", /at import/],
        ["process.exit(7)", /ended \(exit 7\)/],
        ["export const a = 1", /exports no class/],
      ];
      for (const [source, reason] of cases) {
        await world.write({ "bad.js": source });
        const place = await world.config("hooks: [{name: bad, path: bad.js, isolate: true}]");
        const lines = await rejection(loadDecisions(place, world.deps));
        assert.match(lines, /E_EXECUTOR_LOAD hooks\[0\] "bad"/);
        assert.match(lines, reason);
      }
    }));
});
