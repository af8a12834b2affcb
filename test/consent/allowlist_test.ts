import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, beforeEach, describe, it } from "node:test";
import { allowlistAt, HEX, key, NOON } from "./support.ts";

const OLD = { command: "/srv/app/hook.sh", approved_at: "2026-07-01T00:00:00Z", script_mtime: 1.5 };

describe("an allowlist", () => {
  let root = "";
  let file = "";
  let count = 0;
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), "reyn-allow-"));
  });
  after(() => rmSync(root, { recursive: true }));
  beforeEach(() => {
    file = path.join(root, String(++count), ".reyn/shell-hooks-allowlist.json");
  });

  const put = (text: string, mode = 0o600) => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  };
  const elements = (): unknown[] => JSON.parse(readFileSync(file, "utf8"));
  const statuses = async (...keys: ReturnType<typeof key>[]) =>
    await Promise.all(keys.map(async (one) => (await allowlistAt(file).find(one)).status));

  it("that does not exist approves nothing and is no problem", async () => {
    const list = allowlistAt(file);
    assert.deepEqual(await list.find(key()), { status: "absent" });
    assert.deepEqual([await list.list(), await list.problems()], [[], []]);
    assert.equal(existsSync(path.dirname(file)), false);
  });

  it("approves what was added, for others who open it too, in a file for its owner alone", async () => {
    const list = allowlistAt(file);
    assert.deepEqual(await list.add(key(), "lint"), { status: "stored" });
    assert.equal((await list.find(key())).status, "approved");
    assert.deepEqual(await statuses(key(), key({ argv: ["/bin/false"] })), ["approved", "absent"]);
    assert.equal(statSync(file).mode & 0o7777, 0o600);
    assert.equal(statSync(path.dirname(file)).mode & 0o7777, 0o700);
    assert.equal(statSync(`${file}.lock`).mode & 0o7777, 0o600);
    assert.equal(existsSync(`${file}.new`), false);
  });

  it("is for people to read: command, time, hook and what it is bound to", async () => {
    const whole = key({
      argv: ["/srv/app/hook.sh", "a b", "x\u202ey", "\u{e0041}"],
      grants: { network: true, writePaths: ["/srv/out"] },
      envNames: ["TOKEN"],
      files: { "/srv/app/hook.sh": HEX("a") },
    });
    await allowlistAt(file).add(whole, "lint");
    assert.deepEqual(elements(), [{
      command: "/srv/app/hook.sh 'a b' $'x\\u{202e}y' $'\\u{e0041}'",
      approved_at: "2026-11-30T12:00:00.000Z",
      hook: "lint",
      argv: whole.argv,
      cwd: "/srv/app",
      grants: { subprocess: false, network: true, write_paths: ["/srv/out"], read_paths: [] },
      env: ["TOKEN"],
      backend: "landlock",
      files: { "/srv/app/hook.sh": HEX("a") },
    }]);
    assert.match(readFileSync(file, "utf8"), /^\[\n {2}\{\n/);
    assert.doesNotMatch(readFileSync(file, "utf8"), /[\p{Cf}]/u);
    assert.deepEqual(await statuses(whole), ["approved"]);
  });

  it("stores the same only once, and replaces what differs in content alone", async () => {
    const list = allowlistAt(file);
    const at = (digit: string) => key({ files: { "/srv/app/hook.sh": HEX(digit) } });
    await list.add(at("1"), "lint");
    await list.add(at("1"), "other");
    assert.equal(elements().length, 1);
    await list.add(at("2"), "lint");
    assert.deepEqual(await statuses(at("1"), at("2")), ["changed", "approved"]);
    await list.add(at("3"), "other");
    assert.deepEqual(await statuses(at("2"), at("3")), ["approved", "approved"]);
  });

  it("keeps a config by its hashes, and replaces what differs in it alone", async () => {
    const list = allowlistAt(file);
    const at = (digit: string) => key({ config: { url: HEX(digit) } });
    await list.add(at("1"), "tell");
    assert.deepEqual(await statuses(at("1"), at("2"), key()), ["approved", "changed", "changed"]);
    await list.add(at("2"), "tell");
    assert.deepEqual(await statuses(at("1"), at("2")), ["changed", "approved"]);
  });

  it("names what changed since the approval that is nearest", async () => {
    const list = allowlistAt(file);
    const hook = key({ argv: ["/srv/app/hook.sh"], files: { "/srv/app/hook.sh": HEX("1") } });
    await list.add(hook, "lint");
    const what = async (wanted: ReturnType<typeof key>, name?: string) => {
      const found = await list.find(wanted, name);
      return found.status === "changed" ? found.what : found.status;
    };
    const changed = key({ argv: hook.argv, files: { "/srv/app/hook.sh": HEX("2") } });
    assert.deepEqual(await what(changed), ['content of "/srv/app/hook.sh" changed']);
    assert.deepEqual(await what(key({ ...hook, cwd: "/srv/b" })), ['folder was "/srv/app", is "/srv/b"']);
    const edited = key({ ...hook, argv: ["/srv/app/hook.sh", "-x"] });
    assert.deepEqual(await what(edited, "lint"), ['argument 1 "-x" is new']);
    assert.equal(await what(edited, "another"), "absent");
    assert.equal(await what(edited), "absent");
    await list.add(key({ ...hook, files: {}, grants: { network: true, subprocess: true } }), "lint");
    assert.deepEqual(await what(changed), ['content of "/srv/app/hook.sh" changed']);
  });

  it("sees what others write, whatever they do to its times", async () => {
    const list = allowlistAt(file);
    await list.add(key({ envNames: ["A"] }), "lint");
    assert.equal((await list.find(key({ envNames: ["A"] }))).status, "approved");
    const time = new Date(NOON);
    utimesSync(file, time, time);
    assert.equal((await list.find(key({ envNames: ["A"] }))).status, "approved");
    writeFileSync(file, readFileSync(file, "utf8").replace('"A"', '"B"'));
    utimesSync(file, time, time);
    assert.equal((await list.find(key({ envNames: ["A"] }))).status, "changed");
    assert.equal((await list.find(key({ envNames: ["B"] }))).status, "approved");
    rmSync(file);
    assert.equal((await list.find(key({ envNames: ["B"] }))).status, "absent");
  });

  it("takes back what it is told to, and says what that was", async () => {
    const list = allowlistAt(file);
    await list.add(key({ argv: ["/bin/a"] }), "a");
    await list.add(key({ argv: ["/bin/b"] }), "b");
    const removed = await list.remove((entry) => entry.hook === "a");
    assert.deepEqual(removed.status === "stored" && removed.removed.map((entry) => entry.command), [
      "/bin/a",
    ]);
    assert.deepEqual(await statuses(key({ argv: ["/bin/a"] }), key({ argv: ["/bin/b"] })), [
      "absent",
      "approved",
    ]);
    assert.deepEqual(await list.remove(() => false), { status: "stored", removed: [] });
  });

  for (const mode of [0o644, 0o660, 0o602, 0o666, 0o700]) {
    it(`with mode 0${mode.toString(8)} approves nothing, says so, and takes nothing in`, async () => {
      await allowlistAt(file).add(key(), "lint");
      chmodSync(file, mode);
      const list = allowlistAt(file);
      assert.equal((await list.find(key())).status, "absent");
      const [problem] = await list.problems();
      assert.equal(problem?.code, "E_ALLOWLIST_UNSAFE");
      assert.match(problem.message, new RegExp(`its mode is 0${mode.toString(8)}, not 0600`));
      const added = await list.add(key({ argv: ["/bin/other"] }), "lint");
      assert.match(added.status === "not_stored" ? added.reason : "", /its mode is/);
      assert.equal(elements().length, 1);
      chmodSync(file, 0o600);
      assert.equal((await list.find(key())).status, "approved");
    });
  }

  it("of another account approves nothing and says so", async () => {
    await allowlistAt(file).add(key(), "lint");
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(file, 12345, 12345);
    const list = allowlistAt(file, isRoot ? {} : { uid: 12345 });
    assert.equal((await list.find(key())).status, "absent");
    assert.match((await list.problems())[0]?.message ?? "", /it belongs to uid \d+, not to \d+$/);
    assert.equal((await list.add(key({ argv: ["/bin/other"] }), null)).status, "not_stored");
  });

  it("that is a folder approves nothing and says so", async () => {
    mkdirSync(file, { recursive: true });
    const list = allowlistAt(file);
    assert.equal((await list.find(key())).status, "absent");
    assert.equal((await list.problems())[0]?.code, "E_ALLOWLIST_UNSAFE");
  });

  for (const text of ["{}", "garbage", '[{"command": "x"', "null", '"\xff'.slice(0, 1) + "\x00", "[]]"]) {
    it(`that holds ${JSON.stringify(text)} is set aside, approves nothing, and says so`, async () => {
      put(text);
      const list = allowlistAt(file);
      assert.equal((await list.find(key())).status, "absent");
      const aside = `${file}.damaged-20261130T120000Z`;
      assert.equal(readFileSync(aside, "utf8"), text);
      assert.equal(existsSync(file), false);
      const [problem, ...others] = await list.problems();
      assert.equal(problem?.code, "E_ALLOWLIST_DAMAGED");
      assert.ok(problem.message.endsWith(`it is now ${aside}`), problem.message);
      assert.deepEqual(others, []);
      assert.deepEqual(await list.add(key(), "lint"), { status: "stored" });
      assert.deepEqual(await statuses(key()), ["approved"]);
    });
  }

  it("that is damaged does not keep an approval from being stored, nor overwrites what was set aside before", async () => {
    put("garbage");
    assert.deepEqual(await allowlistAt(file).add(key(), "lint"), { status: "stored" });
    put("more garbage");
    await allowlistAt(file).find(key());
    const aside = readdirSync(path.dirname(file)).filter((name) => name.includes(".damaged-")).sort();
    assert.deepEqual(aside.map((name) => readFileSync(path.join(path.dirname(file), name), "utf8")), [
      "garbage",
      "more garbage",
    ]);
  });

  it("that is just being saved by an editor is left to it", async () => {
    await allowlistAt(file).add(key(), "lint");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.slice(0, 20));
    const found = allowlistAt(file).find(key());
    setTimeout(() => writeFileSync(file, whole), 20);
    assert.equal((await found).status, "approved");
    assert.equal(existsSync(`${file}.damaged-20261130T120000Z`), false);
  });

  it("that is empty has nothing to set aside", async () => {
    put("");
    assert.deepEqual(await allowlistAt(file).problems(), []);
    assert.deepEqual(await allowlistAt(file).add(key(), "lint"), { status: "stored" });
  });

  it("keeps entries that it does not know, which approve nothing, and says so", async () => {
    const strange = { ...OLD, script_mtime: undefined, argv: ["/bin/true"] };
    put(JSON.stringify([OLD, OLD, strange, 7]));
    const list = allowlistAt(file);
    assert.deepEqual(await list.find(key({ argv: [OLD.command] })), { status: "absent" });
    assert.deepEqual((await list.problems()).map(({ code, message }) => [code, message]), [
      [
        "W_ALLOWLIST_ENTRY",
        `the allowlist ${file} holds 2 approvals of no effect: ` +
        "of an older form, which is bound to no folder, grants or content",
      ],
      [
        "W_ALLOWLIST_ENTRY",
        `the allowlist ${file} holds 2 approvals of no effect: not of a form that reyn knows`,
      ],
    ]);
    await list.add(key(), "lint");
    const { script_mtime: _, ...kept } = strange;
    assert.deepEqual(elements().slice(0, 4), [OLD, OLD, kept, 7]);
    assert.equal(elements().length, 5);
  });

  it("approves nothing by an entry with more, less or other than an approval has", async () => {
    await allowlistAt(file).add(key(), "lint");
    const [entry] = elements();
    assert.ok(typeof entry === "object" && entry !== null);
    const { backend: _, ...less } = entry as Record<string, unknown>;
    const forged = [
      less,
      { ...entry, only_until: "2020-01-01" },
      { ...entry, argv: "/bin/true" },
      { ...entry, argv: [] },
      // Read by a person as something harmless.
      { ...entry, command: "/bin/harmless" },
    ];
    put(JSON.stringify(forged));
    const list = allowlistAt(file);
    assert.equal((await list.find(key())).status, "absent");
    assert.deepEqual((await list.list()).map((one) => one.key), forged.map(() => null));
  });

  it("stays where a link to it leads, and the link stays one", async () => {
    const real = path.join(root, "elsewhere.json");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(real, "[]", { mode: 0o600 });
    symlinkSync(real, file);
    await allowlistAt(file).add(key(), "lint");
    assert.equal(lstatSync(file).isSymbolicLink(), true);
    assert.equal((await allowlistAt(real).find(key())).status, "approved");
  });

  it("that cannot be written says that nothing was stored, and where", async () => {
    const list = allowlistAt("/proc/self/nowhere/allowlist.json");
    const added = await list.add(key(), "lint");
    assert.match(added.status === "not_stored" ? added.reason : "", /^\/proc\/self\/nowhere/);
    assert.deepEqual(await list.find(key()), { status: "absent" });
    assert.equal((await list.remove(() => true)).status, "not_stored");
  });

  it("overwrites what a writer that was killed left behind", async () => {
    put("[]");
    writeFileSync(`${file}.new`, "half", { mode: 0o666 });
    assert.deepEqual(await allowlistAt(file).add(key(), "lint"), { status: "stored" });
    assert.equal(statSync(file).mode & 0o7777, 0o600);
  });
});
