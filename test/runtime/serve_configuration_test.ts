import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, beforeEach, describe, it } from "node:test";
import { configurations } from "../../src/runtime/serve_configuration.ts";

const hook = (name: string) =>
  `hooks: [{ on: turn_end, name: ${name}, template_push: { message: m, session: main } }]\n`;

describe("configurations of a process that lives long", () => {
  let base: string;
  let dir: string;
  const home = process.env["HOME"];
  before(() => {
    base = mkdtempSync(join(tmpdir(), "reyn-configurations-"));
    process.env["HOME"] = base;
  });
  after(() => {
    if (home !== undefined) process.env["HOME"] = home;
    rmSync(base, { recursive: true, force: true });
  });
  beforeEach(() => {
    dir = mkdtempSync(join(base, "control-"));
    writeFileSync(join(dir, "reyn.yaml"), `agents: { a: {} }\n${hook("startup")}`);
  });

  const put = (path: string, text: string) => {
    const full = join(dir, path);
    mkdirSync(join(full, ".."), { recursive: true });
    writeFileSync(full, text);
  };
  const names = (hooks: readonly { name: string | null }[]) => hooks.map(({ name }) => name);

  it("share what was compiled among the sessions of an agent, each with its own name", () => {
    const configs = configurations(dir);
    const one = configs.of({ agent: "a", sid: "one" });
    const two = configs.of({ agent: "a", sid: "two" });
    assert.equal(one.hooks, two.hooks);
    assert.deepEqual([one.sid, one.session.sid, two.session.sid], ["one", "one", "two"]);
    // What is shared by all sessions keeps the target that is some session's own.
    const [shared] = configs.of({ agent: "a", sid: "main" }).hooks;
    assert.equal(shared?.action.scheme === "template_push" && shared.action.push.session, "main");
  });

  it("never read the startup files again", () => {
    const configs = configurations(dir);
    put("reyn.yaml", "hooks: [broken\n");
    const own = configs.of({ agent: "default", sid: "main" });
    assert.equal(own.usable, true);
    put(".reyn/agents/default/state/hooks.yaml", hook("session"));
    assert.deepEqual(names(configs.of({ agent: "default", sid: "main" }).hooks), ["startup", "session"]);
  });

  it("see a file of another layer come, change and go", () => {
    const configs = configurations(dir);
    const now = (sid: string) => names(configs.of({ agent: "a", sid }).hooks);
    assert.deepEqual(now("x"), ["startup"]);
    put(".reyn/config/hooks.yaml", hook("runtime"));
    assert.deepEqual(now("x"), ["startup", "runtime"]);
    put(".reyn/agents/a/hooks.yaml", hook("agent_wide"));
    assert.deepEqual(now("x"), ["startup", "runtime", "agent_wide"]);
    put(".reyn/agents/a/state/sessions/y/hooks.yaml", hook("only_y"));
    assert.deepEqual(now("x"), ["startup", "runtime", "agent_wide"]);
    assert.deepEqual(now("y"), ["startup", "runtime", "agent_wide", "only_y"]);
    put(".reyn/config/hooks.yaml", "hooks: []\n");
    assert.deepEqual(now("x"), ["startup", "agent_wide"]);
    rmSync(join(dir, ".reyn/agents/a/hooks.yaml"));
    assert.deepEqual(now("x"), ["startup"]);
  });

  it("refuse what cannot be named, and are not usable for an agent that is not declared", () => {
    const configs = configurations(dir);
    assert.throws(() => configs.of({ agent: "a", sid: "../x" }), { code: "E_SESSION_NAME" });
    assert.throws(() => configs.of({ agent: "a/b", sid: "x" }), { code: "E_AGENT_UNKNOWN" });
    assert.equal(configs.of({ agent: "b", sid: "x" }).usable, false);
  });
});
