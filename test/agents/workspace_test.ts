import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, it } from "node:test";
import { agentsSection } from "../../src/agents/section.ts";
import { makeWorkspace, type Workspace } from "../../src/agents/workspace.ts";
import { resolveControlPath } from "../../src/config/authority.ts";
import { checkValue } from "../../src/config/check_value.ts";
import { formatPath } from "../../src/config/path.ts";
import { finding } from "../../src/errors/reyn_error.ts";

let root: string;
let controlDir: string;
let home: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "reyn-workspace-")));
  controlDir = join(root, "control");
  home = join(root, "home");
  for (const folder of [controlDir, home, join(controlDir, ".reyn"), join(home, ".reyn")]) mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** What `agents:` comes to, with what was said of it as `CODE place: message`. */
function load(agents: unknown): { of(agent: string): Workspace; said: string[] } {
  const checked = checkValue(agentsSection.schema, agents);
  assert.ok(checked.ok, "the schema takes it");
  const said: string[] = [];
  const compiled = agentsSection.compile(checked.value, {
    layer: "startup",
    controlDir,
    home,
    layerOf: () => "startup",
    resolve: (text) => resolveControlPath(text, controlDir, home),
    finding: (_at, code, message) => finding(code, message),
    report: (at, code, message) => said.push(`${code} ${formatPath(at)}: ${message}`),
  });
  return {
    said,
    of(agent) {
      const found = compiled.get(agent);
      assert.ok(found);
      return found.workspace;
    },
  };
}

const at = (name: string) => join(controlDir, name);

describe("the workspace of an agent", () => {
  it("is the folder that it names, else the common default, and need not exist", () => {
    const { of, said } = load({
      default: { workspace: "./main/" },
      far: { workspace: "~/far" },
      twin: { workspace: "main" },
      plain: null,
    });
    assert.deepEqual(said, []);
    assert.deepEqual(of("default"), { path: at("main") });
    assert.deepEqual(of("twin"), { path: at("main") });
    assert.deepEqual(of("far"), { path: join(home, "far") });
    assert.deepEqual(of("plain"), { path: at("workspace") });
    assert.deepEqual(load(undefined).of("default"), { path: at("workspace") });
  });

  it("has its symlinks followed, also to where nothing is yet", () => {
    mkdirSync(at("real"));
    symlinkSync("real", at("link"));
    symlinkSync("to/come", at("early"));
    const { of, said } = load({ a: { workspace: "link/x" }, b: { workspace: "early" } });
    assert.deepEqual(said, []);
    assert.equal(of("a").path, at("real/x"));
    assert.equal(of("b").path, at("to/come"));
  });

  it("is no file and lies below none", () => {
    writeFileSync(at("file"), "");
    symlinkSync("loop", at("loop"));
    assert.deepEqual(
      load({ a: { workspace: "file" }, b: { workspace: "file/x" }, c: { workspace: "loop" } }).said,
      [
        'E_WORKSPACE a.workspace: "file" is not a folder',
        'E_WORKSPACE b.workspace: "file/x" cannot be used: a part of its path is not a folder',
        'E_WORKSPACE c.workspace: "loop" cannot be used: its symlinks go in a circle',
      ],
    );
    assert.deepEqual(load({ a: { workspace: "a\0b" } }).said, [
      'E_WORKSPACE a.workspace: "a\\u{0}b" holds a NUL character',
    ]);
  });

  it("does not lie among reyn's own files, in the control folder or in the home", () => {
    symlinkSync(".reyn", at("link"));
    const { said } = load({
      a: { workspace: ".reyn" },
      b: { workspace: ".reyn/agents/b" },
      c: { workspace: "link/new" },
      d: { workspace: "~/.reyn/x" },
      e: { workspace: ".reynolds" },
    });
    assert.deepEqual(said.map((one) => one.slice(0, one.indexOf(":"))), [
      "E_WORKSPACE a.workspace",
      "E_WORKSPACE b.workspace",
      "E_WORKSPACE c.workspace",
      "E_WORKSPACE d.workspace",
    ]);
  });

  it("is warned of when it holds reyn's own files", () => {
    mkdirSync(at("below"));
    symlinkSync("..", at("below/up"));
    const { said, of } = load({
      a: { workspace: "." },
      b: { workspace: ".." },
      c: { workspace: "below/up" },
      d: { workspace: "~" },
    });
    assert.deepEqual(said.map((one) => one.replace(/, so that .*/, "")), [
      'W_WORKSPACE a.workspace: "." is the control folder',
      'W_WORKSPACE b.workspace: ".." contains the control folder',
      'W_WORKSPACE c.workspace: "below/up" is the control folder',
      `W_WORKSPACE d.workspace: "~" contains "${home}/.reyn"`,
    ]);
    assert.equal(of("b").path, root);
  });
});

describe("the default workspace", () => {
  it("stops no start, is told of once, and is refused to what would run in it", async () => {
    symlinkSync(home, at("workspace"));
    const { said, of } = load({ a: {}, b: {} });
    assert.deepEqual(said, [
      `W_WORKSPACE : the default workspace, "workspace", is a symlink that leaves the control folder, to "${home}"`,
    ]);
    await assert.rejects(makeWorkspace(of("a")), { code: "E_WORKSPACE" });
  });

  it("is refused where a link leads to a place outside that is yet to come", async () => {
    symlinkSync(join(home, "come"), at("workspace"));
    await assert.rejects(makeWorkspace(load({}).of("default")), { code: "E_WORKSPACE" });
    assert.equal(statSync(join(home, "come"), { throwIfNoEntry: false }), undefined);
  });

  it("is not told of where every agent names its own", () => {
    writeFileSync(at("workspace"), "");
    assert.deepEqual(load({ default: { workspace: "a" }, b: { workspace: "b" } }).said, []);
    assert.equal(load({ b: { workspace: "b" } }).said.length, 1);
  });
});

describe("making a workspace", () => {
  it("makes it with its parents, once, for its account to write and all to read", async () => {
    const before = process.umask(0o022);
    try {
      assert.equal(await makeWorkspace({ path: at("a/b") }), at("a/b"));
    } finally {
      process.umask(before);
    }
    assert.equal(statSync(at("a/b")).mode & 0o777, 0o755);
    writeFileSync(at("a/b/kept"), "x");
    await makeWorkspace({ path: at("a/b") });
    assert.equal(statSync(at("a/b/kept")).size, 1);
  });

  it("makes one for many at once", async () => {
    await Promise.all(Array.from({ length: 20 }, () => makeWorkspace({ path: at("x/y/z") })));
    assert.ok(statSync(at("x/y/z")).isDirectory());
  });

  it("says why it cannot", async () => {
    writeFileSync(at("file"), "");
    await assert.rejects(makeWorkspace({ path: at("file") }), {
      code: "E_WORKSPACE",
      message: `the workspace "${at("file")}" cannot be made: a file stands in its place`,
    });
    await assert.rejects(makeWorkspace({ path: at("file/x") }), {
      code: "E_WORKSPACE",
      message: `the workspace "${at("file/x")}" cannot be made: a part of its path is not a folder`,
    });
  });

  it("makes nothing where a symlink has since been put in its path", async () => {
    const workspace = load({ a: { workspace: "work/a" } }).of("a");
    symlinkSync(home, at("work"));
    await assert.rejects(makeWorkspace(workspace), { code: "E_WORKSPACE", message: /now leads to/ });
    assert.equal(statSync(join(home, "a"), { throwIfNoEntry: false }), undefined);
    assert.equal(readlinkSync(at("work")), home);
  });
});
