import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type ConsentRequest, isSameKey } from "../../src/consent/consent_key.ts";
import { key, keysOf, request } from "./support.ts";

const sha = (text: string) => createHash("sha256").update(text).digest("hex");

describe("consentKeys()", () => {
  let cwd = "";
  const keys = keysOf();
  const file = (name: string) => path.join(cwd, name);
  const write = (name: string, text: string) => writeFileSync(file(name), text);
  before(() => {
    cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "reyn-key-")));
    write("hook.sh", "one");
    write("t.py", "print(1)");
    mkdirSync(file("lib"));
    write("lib/a.py", "a");
  });
  after(() => rmSync(cwd, { recursive: true }));

  it("covers the program and every argument that is a file, but not what is the system's", async () => {
    const { files } = await keys.of(
      request(cwd, ["/usr/bin/env", file("hook.sh"), "t.py", "-c", "lib", "", "nope"]),
    );
    assert.deepEqual(files, { [file("hook.sh")]: sha("one"), [file("t.py")]: sha("print(1)") });
  });

  it("covers what consent_files names, and tells which patterns name nothing", async () => {
    const found = await keys.compute(request(cwd, ["/bin/true"], { consentFiles: ["lib/*.py", "none/**"] }));
    assert.ok(found.ok);
    assert.deepEqual(found.key.files, { [file("lib/a.py")]: sha("a") });
    assert.deepEqual(found.unmatched, ["none/**"]);
  });

  it("sees a file that changes, comes and goes while the process lives", async () => {
    const wanted = request(cwd, [file("hook.sh"), "late.txt"]);
    const first = await keys.of(wanted);
    write("hook.sh", "two");
    const second = await keys.of(wanted);
    assert.equal(second.files[file("hook.sh")], sha("two"));
    assert.equal(isSameKey(first, second), false);
    write("late.txt", "x");
    assert.equal((await keys.of(wanted)).files[file("late.txt")], sha("x"));
    rmSync(file("late.txt"));
    write("hook.sh", "one");
    assert.equal(isSameKey(await keys.of(wanted), first), true);
  });

  it("sees a link that is turned to another file", async () => {
    const link = file("link.sh");
    symlinkSync("hook.sh", link);
    const first = await keys.of(request(cwd, [link]));
    assert.deepEqual(first.files, { [link]: sha("one") });
    rmSync(link);
    symlinkSync("t.py", link);
    assert.deepEqual((await keys.of(request(cwd, [link]))).files, { [link]: sha("print(1)") });
  });

  it("covers of a link into the system which file it leads to", async () => {
    const link = file("interpreter");
    symlinkSync("/usr/bin/env", link);
    assert.deepEqual((await keys.of(request(cwd, [link]))).files, {
      [link]: `-> ${realpathSync("/usr/bin/env")}`,
    });
    rmSync(link);
    symlinkSync("/usr/bin/id", link);
    assert.deepEqual((await keys.of(request(cwd, [link]))).files, {
      [link]: `-> ${realpathSync("/usr/bin/id")}`,
    });
  });

  it("covers a name among the system's that leads elsewhere", async () => {
    const system = file("system");
    mkdirSync(system);
    writeFileSync(path.join(system, "own"), "own");
    symlinkSync("own", path.join(system, "alias"));
    symlinkSync(file("t.py"), path.join(system, "tool"));
    const argv = ["own", "alias", "tool"].map((name) => path.join(system, name));
    const found = await keysOf({ systemFolders: [system] }).of(request(cwd, argv));
    assert.deepEqual(found.files, { [path.join(system, "tool")]: sha("print(1)") });
  });

  it("takes no look-alike of the system's folders for them", async () => {
    const found = await keys.of(request(cwd, ["/bin/true", `/usr/../${file("t.py")}`]));
    assert.deepEqual(Object.keys(found.files), [file("t.py")]);
    const lib = file("lib");
    mkdirSync(`${lib}64`);
    writeFileSync(`${lib}64/x`, "x");
    const other = await keysOf({ systemFolders: [lib] }).of(request(cwd, [`${lib}64/x`, `${lib}/a.py`]));
    assert.deepEqual(Object.keys(other.files), [`${lib}64/x`]);
  });

  it("is the same however lists are ordered and doubled, and different for everything that counts", async () => {
    const base: ConsentRequest = request(cwd, ["/bin/true", "a"], {
      grants: { subprocess: false, network: ["a.org", "b.org"], writePaths: ["/x", "/y"] },
      envNames: ["A", "B"],
    });
    const first = await keys.of(base);
    const same = await keys.of({
      ...base,
      grants: {
        subprocess: false,
        network: ["b.org", "a.org"],
        writePaths: ["/y", "/x", "/y"],
        readPaths: [],
      },
      envNames: ["B", "A", "B"],
    });
    assert.equal(isSameKey(first, same), true);
    const others: Partial<ConsentRequest>[] = [
      { argv: ["/bin/true", "a", "b"] },
      { argv: ["/bin/true"] },
      { argv: ["/bin/true a"] },
      { argv: ["/bin/true", "a "] },
      { cwd: "/" },
      { grants: { ...base.grants, subprocess: true } },
      { grants: { ...base.grants, network: true } },
      { grants: { ...base.grants, network: ["a.org"] } },
      { grants: { ...base.grants, writePaths: ["/x"] } },
      { grants: { ...base.grants, readPaths: ["/x"] } },
      { envNames: ["A"] },
      { backend: "seatbelt" },
      { consentFiles: ["lib"] },
    ];
    for (const other of others) {
      assert.equal(isSameKey(first, await keys.of({ ...base, ...other })), false, JSON.stringify(other));
    }
  });

  it("never takes one argv for another: prefixes, wrappers and chained commands", () => {
    const approved: [string[], string[][]][] = [
      [["git", "status"], [["git", "status-x"], ["git", "status", "--x"], ["git"], ["git status"]]],
      [["ls"], [["sh", "-c", "ls; touch x"], ["ls", "; touch x"]]],
      [["env", "A=1", "true"], [["env", "A=1", "touch", "x"], ["xargs", "env", "A=1", "true"]]],
    ];
    for (const [argv, others] of approved) {
      for (const other of others) assert.equal(isSameKey(key({ argv }), key({ argv: other })), false);
    }
  });

  it("refuses where consent cannot be bound to content", async () => {
    const large = await keysOf({ maxFileBytes: 2 }).compute(request(cwd, [file("hook.sh")]));
    assert.deepEqual(large, {
      ok: false,
      reason: `consent cannot be bound to what would run: "${file("hook.sh")}": it is larger than 2 bytes`,
      fix: "narrow consent_files, or run another file",
    });
    const total = await keysOf({ maxTotalBytes: 4 }).compute(request(cwd, [file("hook.sh"), "t.py"]));
    assert.match(total.ok ? "" : total.reason, /its files hold more than 4 bytes/);
    const many = await keysOf().compute(request(cwd, ["/bin/true"], { consentFiles: ["/**"] }));
    assert.match(many.ok ? "" : many.reason, /consent_files "\/\*\*" names/);
  });
});
