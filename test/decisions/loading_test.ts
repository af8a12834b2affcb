import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { sequentialIds } from "../../src/clock/ids.ts";
import { HooksConfigError } from "../../src/decisions/config_error.ts";
import { decisionHooks, lazyDecisionHooks } from "../../src/decisions/decision_hooks.ts";
import { findConfig } from "../../src/decisions/find_config.ts";
import { loadDecisions } from "../../src/decisions/load_decisions.ts";
import { makeContext } from "../../src/points/contexts.ts";
import { memoryAudit } from "./support.ts";
import { inWorld, rejection, type World } from "./world.ts";

const HOOK = `import { LifecycleHooks } from "reyn/hooks";
const seen: string[] = (globalThis as never as { reynSeen: string[] }).reynSeen ??= [];
seen.push("body " + import.meta.url);
export class Add extends LifecycleHooks<{ text?: string }> {
  constructor(private readonly options: { text?: string }) { super(options); seen.push("constructed"); }
  override session_spawn(ctx: { prompt: string }) { return { prompt: ctx.prompt + (this.options.text ?? "!") }; }
}
`;

const entry = (rest = "") => `hooks:\n  - name: audit\n    path: hook.ts\n${rest && `    ${rest}\n`}`;

/** What the hooks of a declaration make of the prompt "p". */
async function prompt({ deps }: World, place: Parameters<typeof loadDecisions>[0]): Promise<string> {
  const loaded = await loadDecisions(place, deps);
  const hooks = decisionHooks(loaded, { audit: memoryAudit(), clock: systemClock, ids: sequentialIds("d") });
  try {
    return (await hooks.decide("session_spawn", makeContext("session_spawn", { prompt: "p" }))).decisions
      .prompt;
  } finally {
    await hooks.close();
  }
}

describe("loadDecisions()", () => {
  it("takes the one class of a TypeScript file that imports the SDK", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      assert.equal(await prompt(world, await world.config(entry())), "p!");
    }));

  it("gives the class its `with`, a copy of it", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      assert.equal(await prompt(world, await world.config(entry("with: {text: a}"))), "pa");
    }));

  it("imports a file once for two entries, links included, and constructs a hook for each", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      await symlink(join(world.dir, "hook.ts"), join(world.dir, "link.ts"));
      const seen: string[] = ((globalThis as never as { reynSeen: string[] }).reynSeen ??= []);
      seen.length = 0;
      const two = "hooks:\n  - {name: a, path: hook.ts}\n  - {name: b, path: link.ts, with: {text: '?'}}\n";
      assert.equal(await prompt(world, await world.config(two)), "p!?");
      assert.equal(seen.filter((line) => line.startsWith("body")).length, 1);
      assert.equal(seen.filter((line) => line === "constructed").length, 2);
    }));

  it("takes a hook that is given the SDK, without an import", () =>
    inWorld(async (world) => {
      const body =
        "class extends sdk.LifecycleHooks { session_spawn(ctx) { return { prompt: ctx.prompt + '#' }; } }";
      await world.write({
        "hook.js": `export default (sdk) => ${body};`,
        "more.mjs": `export const make = async (sdk) => new (${body});`,
      });
      const two = "hooks:\n  - {name: a, path: hook.js}\n  - {name: b, path: more.mjs, executor: make}\n";
      assert.equal(await prompt(world, await world.config(two)), "p##");
    }));

  it("takes a named class of several, and an instance as it is", () =>
    inWorld(async (world) => {
      await world.write({
        "hook.ts": `${HOOK}export class Other extends Add {}\nexport const made = new Add({ text: "i" });\n`,
      });
      assert.equal(await prompt(world, await world.config(entry("executor: Other"))), "p!");
      assert.equal(await prompt(world, await world.config(entry("executor: made"))), "pi");
      assert.match(
        await rejection(prompt(world, await world.config(entry("executor: made\n    with: {a: 1}")))),
        /"audit".*`with` is for a class/,
      );
      assert.match(
        await rejection(prompt(world, await world.config(entry()))),
        /"audit".*more than one hook: Add, Other/,
      );
    }));

  it("counts a class once that is exported twice", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": `${HOOK}export default Add;\n` });
      assert.equal(await prompt(world, await world.config(entry())), "p!");
    }));

  it("refuses, naming the entry and its place, what is no hook", () =>
    inWorld(async (world) => {
      const sdk = 'import { LifecycleHooks } from "reyn/hooks";\n';
      const cases: [string, string, RegExp][] = [
        ["export const x = 1;", "", /exports no class/],
        ["", "", /exports no class/],
        [`${sdk}export { LifecycleHooks };`, "", /exports no class/],
        ["throw new Error('at import');", "", /cannot be imported: Error: at import/],
        ["export class {", "", /cannot be imported/],
        ["export const a = 1;", "executor: b", /no export "b"; exported: a/],
        ["export const a = 1;", "executor: a", /"a" is no LifecycleHooks/],
        ["export const a = 1;", "executor: toString", /no export "toString"/],
        [
          `${sdk}export class A extends LifecycleHooks { constructor() { super(); throw new Error("ctor"); } }`,
          "",
          /cannot be constructed: Error: ctor/,
        ],
        ["export default () => { throw new Error('made'); };", "", /default export failed: Error: made/],
        ["export default () => 7;", "", /default export is no LifecycleHooks/],
        ["export default class { session_spawn() {} }", "", /exports no class/],
        ['import "./missing.ts";', "", /cannot be imported/],
      ];
      for (const [index, [source, rest, reason]] of cases.entries()) {
        await world.write({ [`hook${index}.ts`]: source });
        const place = await world.config(entry(rest).replace("hook.ts", `hook${index}.ts`));
        const lines = await rejection(loadDecisions(place, world.deps));
        assert.match(lines, /cli-config.yaml:2:5 E_EXECUTOR_LOAD hooks\[0\] "audit": /, source);
        assert.match(lines, reason, source);
      }
    }));

  it("tells of all entries that cannot be loaded, and of a file that is not there", () =>
    inWorld(async (world) => {
      const place = await world.config(
        "hooks:\n  - {name: a, path: no.ts}\n  - {name: b, module: nothing}\n",
      );
      await assert.rejects(loadDecisions(place, world.deps), HooksConfigError);
      const lines = await rejection(loadDecisions(place, world.deps));
      assert.match(lines, /"a": there is no file .*no\.ts\n.*"b": there is no package nothing/);
    }));

  it("checks an entry that is disabled and does not import it", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": "throw new Error('imported')" });
      assert.equal(await prompt(world, await world.config(entry("enabled: false"))), "p");
    }));

  it("finds files and packages beside the declaration, whatever the working directory", () =>
    inWorld(async (world) => {
      const hook = (mark: string) =>
        `import { LifecycleHooks } from "reyn/hooks";
export class Mark extends LifecycleHooks { session_spawn(ctx) { return { prompt: ctx.prompt + "${mark}" }; } }`;
      await world.write({
        "conf/hooks/h.ts": hook("1").replace("(ctx)", "(ctx: { prompt: string })"),
        "conf/node_modules/plain/package.json": '{"main": "lib/main.mjs"}',
        "conf/node_modules/plain/lib/main.mjs": hook("2"),
        "node_modules/@acme/rules/package.json":
          '{"exports": {".": {"types": "./x.d.ts", "import": "./esm.mjs"}, "./sub/*": "./deep/*.mjs"}}',
        "node_modules/@acme/rules/esm.mjs": hook("3"),
        "node_modules/@acme/rules/deep/one.mjs": hook("4"),
        "cwd/hooks/h.ts": "throw new Error('the wrong file')",
        "cwd/node_modules/plain/index.js": "throw new Error('the wrong package')",
        "conf/cli-config.yaml": "hooks:\n  - {name: a, path: hooks/h.ts}\n  - {name: b, module: plain}\n" +
          "  - {name: c, module: '@acme/rules'}\n  - {name: d, module: '@acme/rules/sub/one'}\n",
      });
      const place = findConfig({
        controlDir: world.dir,
        home: world.dir,
        configFile: join(world.dir, "conf/cli-config.yaml"),
      });
      assert.ok(place);
      const before = process.cwd();
      process.chdir(join(world.dir, "cwd"));
      try {
        assert.equal(await prompt(world, place), "p1234");
      } finally {
        process.chdir(before);
      }
    }));

  it("takes no package of the runtime, and nothing that a package does not export", () =>
    inWorld(async (world) => {
      await world.write({
        "node_modules/p/package.json": '{"exports": {"./a": "../../etc.js"}}',
        "node_modules/p/b.js": "",
      });
      for (const name of ["fs", "p", "p/b.js", "p/a"]) {
        const place = await world.config(`hooks: [{name: a, module: ${name}}]`);
        assert.match(await rejection(loadDecisions(place, world.deps)), /E_EXECUTOR_LOAD/, name);
      }
    }));

  it("asks a hook at the points of `on` that it has a method for, and at no others", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      const points = async (rest: string) =>
        (await loadDecisions(await world.config(entry(rest)), world.deps)).hooks[0]?.points;
      assert.deepEqual(await points(""), ["session_spawn"]);
      assert.deepEqual(await points("on: [phase_changed]"), []);
      assert.deepEqual(await points("on: [phase_changed, session_spawn]"), ["session_spawn"]);
    }));

  it("refuses a match that a point of the class does not carry", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      const lines = await rejection(
        loadDecisions(await world.config(entry("match: {actor: a}")), world.deps),
      );
      assert.match(lines, /E_HOOK_MATCHER hooks\[0\] "audit": match.actor: session_spawn carries no actor/);
    }));
});

describe("the file of the declaration", () => {
  it("is the first of --config, REYN_CLI_CONFIG, the control folder's and the operator's own", () =>
    inWorld(async ({ dir }) => {
      const home = join(dir, "home");
      const at = (options: object) => findConfig({ controlDir: dir, home, ...options })?.path;
      assert.equal(at({}), undefined);
      for (const folder of [home, dir]) {
        await mkdir(join(folder, ".reyn"), { recursive: true });
        await writeFile(join(folder, ".reyn/cli-config.yaml"), "");
        assert.equal(at({}), join(folder, ".reyn/cli-config.yaml"));
      }
      assert.equal(at({ envFile: "/e.yaml" }), "/e.yaml");
      assert.equal(at({ envFile: "" }), join(dir, ".reyn/cli-config.yaml"));
      assert.equal(at({ envFile: "/e.yaml", configFile: "/c.yaml" }), "/c.yaml");
    }));

  it("has to be there when it is named", () =>
    inWorld(async ({ dir, deps }) => {
      const place = findConfig({ controlDir: dir, home: dir, configFile: join(dir, "no.yaml") });
      assert.ok(place);
      assert.match(await rejection(loadDecisions(place, deps)), /E_FILE_UNREADABLE there is no such file/);
    }));

  it("of a project runs nothing until the operator trusts each entry", () =>
    inWorld(async ({ dir, write, deps }) => {
      await write({
        ".reyn/cli-config.yaml": "hooks:\n  - {name: a, path: hook.ts}\n",
        ".reyn/hook.ts": HOOK,
      });
      const place = findConfig({ controlDir: dir, home: join(dir, "home") });
      assert.ok(place);
      assert.equal(place.word, "project");
      assert.match(await rejection(loadDecisions(place, deps)), /:2:5 E_PROJECT_UNTRUSTED hooks\[0\] "a"/);
      const claims: unknown[] = [];
      const judgeTrust = (
        { file, key, value, argvs }: { file: string; key: string; value: unknown; argvs: unknown },
      ) => {
        claims.push({ file, key, value, argvs });
        return { state: "trusted" as const };
      };
      assert.equal((await loadDecisions(place, { ...deps, judgeTrust })).hooks.length, 1);
      assert.deepEqual(claims, [{
        file: ".reyn/cli-config.yaml",
        key: "hooks[0]",
        value: { name: "a", path: "hook.ts" },
        argvs: [[join(dir, ".reyn/hook.ts")]],
      }]);
    }));
});

describe("decision hooks of a process", () => {
  const deps = () => ({ audit: memoryAudit(), clock: systemClock, ids: sequentialIds("d") });

  it("are announced once, if there are any", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      const own = deps();
      decisionHooks(await loadDecisions(await world.config(entry()), world.deps), own);
      const [loaded] = own.audit.of("hooks.loaded");
      assert.deepEqual(loaded?.["hooks"], ["audit"]);
      assert.equal(loaded?.["count"], 1);
      const none = deps();
      decisionHooks(await loadDecisions(await world.config("hooks: []"), world.deps), none);
      assert.deepEqual(none.audit.events, []);
    }));

  it("of a command are loaded when the first point asks, once, and not read again", () =>
    inWorld(async (world) => {
      await world.write({ "hook.ts": HOOK });
      const place = await world.config(entry());
      const own = deps();
      const hooks = lazyDecisionHooks({
        ...own,
        load: () => loadDecisions(place, world.deps),
        talk: assert.fail,
      });
      assert.deepEqual(own.audit.events, []);
      const ask = async () =>
        (await hooks.decide("session_spawn", makeContext("session_spawn"))).decisions.prompt;
      assert.equal(await ask(), "!");
      await world.config("hooks: [");
      assert.equal(await ask(), "!");
      assert.equal(own.audit.of("hooks.loaded").length, 1);
    }));

  it("of a command are left out with one record and one warning when they cannot be loaded", () =>
    inWorld(async (world) => {
      for (const yaml of ["hooks: [", "hooks: [{name: a, path: no.ts}]"]) {
        const place = await world.config(yaml);
        const own = deps();
        const told: string[] = [];
        const load = () => loadDecisions(place, world.deps);
        const hooks = lazyDecisionHooks({ ...own, load, talk: (line) => told.push(line) });
        const context = makeContext("session_spawn", { prompt: "p" });
        for (let n = 0; n < 2; n++) {
          assert.equal((await hooks.decide("session_spawn", context)).decisions.prompt, "p");
        }
        assert.deepEqual(own.audit.events.map(({ type }) => type), ["hooks.load_failed"]);
        assert.equal(told.length, 1);
        await hooks.close();
      }
    }));

  it("give the context itself where no hook is", async () => {
    const hooks = lazyDecisionHooks({
      ...deps(),
      load: async () => await Promise.reject(new Error("x")),
      talk: () => {},
    });
    const context = makeContext("phase_changed");
    assert.equal((await hooks.decide("phase_changed", context)).decisions, context);
  });
});
