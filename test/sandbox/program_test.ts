import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { type ResolvedProgram, resolveProgram } from "../../src/sandbox/program.ts";
import { makePlace, type Place } from "./helpers.ts";

describe("resolving a program", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    const script = (name: string, text: string, mode = 0o755) => place.write(`control/${name}`, text, mode);
    script("hook", "#!/bin/sh\n");
    script("spaced", "#! /bin/sh -e\n");
    script("plain", "#!/bin/sh\n", 0o644);
    script("bad", "#!/no/such/interpreter\n");
    script("dos", "#!/bin/sh\r\necho\r\n");
    script("relative", "#!sh\n");
    script("text", "echo hi\n");
    script("empty", "");
    script("loop", `#!${path.join(place.control, "loop")}\n`);
    script("env", "#!/usr/bin/env sh\n");
    script("envless", "#!/usr/bin/env no-such-program\n");
    script("other_machine", elf(process.arch === "x64" ? 183 : 62));
    place.write("control/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec python3\n", 0o755);
    place.write(
      "control/wrapper",
      '#!/usr/bin/env bash\nset -e\nexec "/opt/pyenv/libexec/pyenv" exec "$program" "$@"\n',
      0o755,
    );
    place.write("control/by_shim", `#!${path.join(place.control, "shims/python3")}\n`, 0o755);
    place.write("path/tool", "#!/bin/sh\n", 0o755);
    mkdirSync(path.join(place.control, "folder"));
  });
  after(() => place.remove());

  /** The head of a program for a machine. */
  const elf = (machine: number) =>
    "\x7fELF" + "\0".repeat(14) + String.fromCharCode(machine) + "\0".repeat(40);
  const resolve = (name: string) =>
    resolveProgram(name, { controlDir: place.control, searchPath: `${place.root}/path:/usr/bin:/bin` });
  const reason = (result: ResolvedProgram) => result.ok ? `found ${result.file}` : result.reason;

  it("takes a name with a slash from the control folder", () => {
    assert.deepEqual(resolve("./hook"), { ok: true, file: path.join(place.control, "hook") });
    assert.deepEqual(resolve("./spaced"), { ok: true, file: path.join(place.control, "spaced") });
    assert.deepEqual(resolve("./env"), { ok: true, file: path.join(place.control, "env") });
  });

  it("looks a bare name up in the fixed path, not in the control folder", () => {
    assert.deepEqual(resolve("tool"), { ok: true, file: path.join(place.root, "path/tool") });
    assert.match(reason(resolve("hook")), /not in PATH/);
  });

  it("does not ask reyn's own PATH", () => {
    assert.match(reason(resolveProgram("tool", { controlDir: place.control })), /not in PATH/);
  });

  it("names what is wrong with a file", () => {
    assert.match(reason(resolve("./missing")), /no such file/);
    assert.match(reason(resolve("./plain")), /not executable \(chmod \+x\)/);
    assert.match(reason(resolve("./folder")), /not a regular file/);
    assert.match(reason(resolve("./empty")), /empty/);
    assert.match(reason(resolve("./text")), /neither a program nor a script/);
    assert.match(reason(resolve("./other_machine")), /another kind of machine/);
  });

  it("names what is wrong with an interpreter", () => {
    assert.match(reason(resolve("./bad")), /interpreter \/no\/such\/interpreter: there is no such file/);
    assert.match(reason(resolve("./dos")), /carriage return/);
    assert.match(reason(resolve("./relative")), /not an absolute path/);
    assert.match(reason(resolve("./loop")), /without end/);
    assert.match(reason(resolve("./envless")), /interpreter no-such-program/);
  });

  it("warns of a version manager's stand-in, by its place and by what it does", () => {
    for (const name of ["./shims/python3", "./wrapper", "./by_shim"]) {
      const result = resolve(name);
      assert.ok(result.ok && result.warning?.includes("stand-in"), `${name}: ${reason(result)}`);
    }
  });

  it("knows the programs of this machine", () => {
    const result = resolve("/bin/true");
    assert.deepEqual(result, { ok: true, file: "/bin/true" });
  });
});
