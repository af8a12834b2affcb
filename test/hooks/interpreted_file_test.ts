import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { interpretedFiles } from "../../src/hooks/interpreted_file.ts";

const FILES = new Set(["task", "rc", "data", "out/x", "-"]);
const run = (...argv: string[]) => interpretedFiles(argv, (word) => FILES.has(word));

describe("interpretedFiles()", () => {
  it("is the first file that an interpreter is given, and not what follows", () => {
    assert.deepEqual(run("/usr/bin/sh", "task", "data"), ["task"]);
    assert.deepEqual(run("/usr/bin/bash", "-eu", "-x", "task", "data"), ["task"]);
    assert.deepEqual(run("/opt/bin/python3.12", "-u", "task", "data"), ["task"]);
    assert.deepEqual(run("node22", "task"), ["task"]);
    assert.deepEqual(run("deno", "run", "-A", "task", "data"), ["task"]);
    assert.deepEqual(run("perl", "-w", "task"), ["task"]);
  });

  it("holds what an option has it run or read before", () => {
    assert.deepEqual(run("bash", "--rcfile", "rc", "task"), ["rc", "task"]);
    assert.deepEqual(run("node", "-r", "rc", "task", "data"), ["rc", "task"]);
    assert.deepEqual(run("python3", "-W", "ignore", "task", "data"), ["task"]);
  });

  it("is nothing where the code stands in the argv", () => {
    assert.deepEqual(run("sh", "-c", "echo", "data"), []);
    assert.deepEqual(run("bash", "-ec", "echo", "data"), []);
    assert.deepEqual(run("python3", "-m", "tool", "data"), []);
    assert.deepEqual(run("perl", "-pe", "1", "data"), []);
    assert.deepEqual(run("node", "-e", "1", "data"), []);
  });

  it("is what -f names for programs that take data otherwise", () => {
    assert.deepEqual(run("awk", "{ print }", "data"), []);
    assert.deepEqual(run("gawk", "-f", "task", "data"), ["task"]);
    assert.deepEqual(run("sed", "-ftask", "data"), ["task"]);
    assert.deepEqual(run("make", "--file=task", "data"), ["task"]);
  });

  it("is that of the program which a wrapper starts", () => {
    assert.deepEqual(run("env", "A=1", "sh", "task", "data"), ["task"]);
    assert.deepEqual(run("timeout", "5", "nice", "-n", "5", "python3", "task", "data"), ["task"]);
    assert.deepEqual(run("busybox", "sh", "task"), ["task"]);
    assert.deepEqual(run("env", "cp", "data", "out/x"), []);
  });

  it("is nothing for any other program, and without end for none", () => {
    assert.deepEqual(run("cp", "task", "data"), []);
    assert.deepEqual(run("push", "task"), []);
    assert.deepEqual(run(), []);
    assert.deepEqual(run(...Array.from({ length: 5000 }, () => "env"), "sh", "task"), ["task"]);
  });
});
