import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { runChain } from "../../src/decisions/chain.ts";
import { examineHooks } from "../../src/decisions/examine.ts";
import { findConfig } from "../../src/decisions/find_config.ts";
import { decisionRowText, listDecisionHooks } from "../../src/decisions/list_hooks.ts";
import { loadDecisions } from "../../src/decisions/load_decisions.ts";
import { formatFinding } from "../../src/errors/finding.ts";
import { makeContext } from "../../src/points/contexts.ts";
import { DECISION_POINTS } from "../../src/points/decisions.ts";
import { HookServer } from "../../sdk.ts";
import { result, text, withServer } from "./server.ts";
import { chainOptions, memoryAudit } from "./support.ts";
import { inWorld } from "./world.ts";

const RULES = `export default ({ LifecycleHooks }) => class extends LifecycleHooks {
  session_spawn(ctx) {
    if (ctx.work_item.owner === "evil") return { proceed: false, reason: "no" };
    if (ctx.respawn) throw new Error("no respawn");
    if (ctx.harness === "odd") return { prompt: 7 };
    if (ctx.harness === "list") return [];
    return ctx.cwd === "" ? null : { ...ctx, prompt: ctx.prompt + ctx.harness_args.join(",") };
  }
  waiting_for_input(ctx) { return { question: ctx.question.toUpperCase() }; }
};`;

describe("the list of decision hooks", () => {
  it("shows the declaration, values of headers masked, importing and contacting nothing", () =>
    inWorld((world) =>
      withServer(result(null), async ({ url, received }) => {
        await world.write({
          "h.js": `import { writeFileSync } from "node:fs"; writeFileSync("${world.dir}/ran", "");`,
        });
        const place = await world.config(`hooks:
  - { name: here, path: h.js, executor: Rules, with: { a: 1 }, isolate: true, on: [phase_changed] }
  - { name: far, url: "${url}", tokenEnv: TOKEN, headers: { X-Key: secret }, required: true, enabled: false }
  - { name: gone, path: missing.ts, mode: observe, timeoutSeconds: 0.5 }
`);
        const { hooks, findings, config } = listDecisionHooks(place, world.deps);
        assert.deepEqual(findings, []);
        assert.equal(config, join(world.dir, "cli-config.yaml"));
        assert.deepEqual(hooks.map(({ name, kind, timeoutSeconds }) => [name, kind, timeoutSeconds]), [
          ["here", "path", 10],
          ["far", "url", 10],
          ["gone", "path", 0.5],
        ]);
        const texts = [JSON.stringify(hooks), ...hooks.map(decisionRowText)].join("\n");
        assert.doesNotMatch(texts, /secret/);
        assert.match(texts, /far {2}url .* every point .*token from TOKEN {2}required {2}DISABLED/);
        assert.equal(existsSync(join(world.dir, "ran")), false);
        assert.equal(received.length, 0);
      })
    ));

  it("says what is wrong with a declaration that cannot be read", () =>
    inWorld(async (world) => {
      const { hooks, findings } = listDecisionHooks(await world.config("hooks: [{ name: A }]"), world.deps);
      assert.deepEqual(hooks, []);
      assert.match(findings.map(formatFinding).join("\n"), /E_HOOK_NAME|E_EXECUTOR_KIND/);
    }));

  it("marks the hooks of a project that the operator does not trust", () =>
    inWorld(async (world) => {
      await world.write({ ".reyn/cli-config.yaml": "hooks: [{ name: a, path: h.js }]" });
      const place = findConfig({ controlDir: world.dir, home: join(world.dir, "home") });
      assert.equal(listDecisionHooks(place, world.deps).hooks[0]?.trusted, false);
      const judgeTrust = () => ({ state: "trusted" as const });
      assert.equal(listDecisionHooks(place, { ...world.deps, judgeTrust }).hooks[0]?.trusted, true);
    }));
});

describe("the examination of decision hooks", () => {
  it("loads each, asks services how they are, and points out what can stop the runtime", () =>
    inWorld((world) =>
      withServer(text(200, "{}"), async (healthy) =>
        await withServer(text(500, ""), async (sick) => {
          await world.write({ "h.js": RULES, "bad.js": "throw new Error('at import')" });
          const place = await world.config(`hooks:
  - { name: here, path: h.js }
  - { name: child, path: h.js, isolate: true }
  - { name: bad, path: bad.js }
  - { name: well, url: "${healthy.url}" }
  - { name: ill, url: "${sick.url}" }
  - { name: away, url: "http://127.0.0.1:1/" }
  - { name: mute, url: "${healthy.url}", tokenEnv: REYN_T_NOT_SET }
  - { name: off, path: bad.js, enabled: false }
`);
          const examined = await examineHooks(place, world.deps);
          assert.deepEqual(examined.map(({ hook, ok }) => [hook, ok]), [
            ["here", true],
            ["child", true],
            ["bad", false],
            ["well", true],
            ["ill", false],
            ["away", false],
            ["mute", false],
            ["off", true],
          ]);
          const [here, child, bad, well, , , mute] = examined;
          assert.match(here?.notes.join() ?? "", /never yields/);
          assert.deepEqual(child?.notes, []);
          assert.deepEqual(child?.points, ["session_spawn", "waiting_for_input"]);
          assert.match(bad?.problem ?? "", /at import/);
          assert.equal(Math.abs(well?.clock_offset_s ?? 99) <= 2, true);
          assert.match(mute?.problem ?? "", /REYN_T_NOT_SET is not set/);
        }))
    ));
});

describe("one class, wherever it runs", () => {
  it("decides the same in this process, in a child of it, and behind a server", () =>
    inWorld(async (world) => {
      await world.write({ "h.js": RULES });
      const local = await loadDecisions(await world.config("hooks: [{ name: a, path: h.js }]"), world.deps);
      const child = await loadDecisions(
        await world.config("hooks: [{ name: a, path: h.js, isolate: true }]"),
        world.deps,
      );
      const [hook] = local.hooks;
      assert.ok(hook);
      const server = new HookServer({
        session_spawn: (context: never) =>
          hook.executor.ask({ point: "session_spawn", context, id: "", limitMs: 1 }),
        waiting_for_input: (context: never) =>
          hook.executor.ask({ point: "waiting_for_input", context, id: "", limitMs: 1 }),
      }, { port: 0 });
      await server.start();
      const remote = await loadDecisions(
        await world.config(`hooks: [{ name: a, url: "${server.url}" }]`),
        world.deps,
      );
      const inputs = [
        {},
        { cwd: "/w", harness_args: ["-x", "-y"], prompt: "p" },
        { work_item: "github:evil/r#1" },
        { respawn: true },
        { harness: "odd" },
        { harness: "list" },
      ];
      try {
        for (const input of inputs) {
          const told = [];
          for (const { hooks } of [local, child, remote]) {
            const context = makeContext("session_spawn", input);
            const audit = memoryAudit();
            const { decisions, refusedBy } = await runChain(
              hooks,
              "session_spawn",
              context,
              chainOptions(audit, systemClock),
            );
            told.push({
              decisions,
              refusedBy,
              records: audit.events.map(({ type, data }) => [type, data["changed"]]),
            });
          }
          assert.deepEqual(told[1], told[0]);
          assert.deepEqual(told[2], told[0]);
        }
        for (const point of DECISION_POINTS) {
          const outcomes = [];
          for (const { hooks } of [local, child, remote]) {
            const chain = hooks.filter((one) => one.points.includes(point));
            outcomes.push(
              (await runChain(chain, point, makeContext(point), chainOptions(memoryAudit()))).decisions,
            );
          }
          assert.deepEqual(outcomes[1], outcomes[0]);
          assert.deepEqual(outcomes[2], outcomes[0]);
        }
      } finally {
        await Promise.all([local.close(), child.close(), remote.close(), server.stop()]);
      }
    }));
});
