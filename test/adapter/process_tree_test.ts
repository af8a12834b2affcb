import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { type ProcessTree, spawnTree, type SpawnTreeOptions } from "../../src/adapter/process_tree.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";

const PATH = "/usr/bin:/bin:/usr/sbin:/sbin";

describe("a process tree", () => {
  let folder = "";
  let count = 0;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "reyn-tree-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Runs a shell script with a mark of its own, by which what is left of it is found from outside. */
  function shell(
    script: string,
    options: Partial<SpawnTreeOptions> = {},
  ): { tree: ProcessTree; mark: string } {
    const mark = `REYN_TEST_MARK=${process.pid}.${++count}.`;
    const env = { PATH, REYN_TEST_MARK: mark.slice(mark.indexOf("=") + 1) };
    const tree = spawnTree({
      argv: ["/bin/sh", "-c", script],
      cwd: folder,
      env,
      clock: systemClock,
      graceMs: 100,
      ...options,
    });
    return { tree, mark };
  }

  it("tells the exit code and what was written", async () => {
    const text = { out: "", err: "" };
    const { tree } = shell("echo hello; echo oops >&2; exit 3", {
      onStdout: (chunk) => (text.out += new TextDecoder().decode(chunk)),
      onStderr: (chunk) => (text.err += new TextDecoder().decode(chunk)),
    });
    assert.deepEqual(await tree.ended, { status: "exited", code: 3, left: 0 });
    assert.deepEqual(text, { out: "hello\n", err: "oops\n" });
  });

  it("tells the signal it died of", async () => {
    assert.deepEqual(await shell("kill -SEGV $$").tree.ended, {
      status: "signaled",
      signal: "SIGSEGV",
      left: 0,
    });
  });

  it("runs in the folder with exactly the environment it was given", async () => {
    let text = "";
    const { tree } = shell("pwd; env | sed 's/=.*//' | sort | grep -v -e '^_$' -e PWD -e SHLVL", {
      env: { PATH, ONLY: "1" },
      onStdout: (chunk) => (text += new TextDecoder().decode(chunk)),
    });
    await tree.ended;
    const [where, ...names] = text.trim().split("\n");
    assert.equal(where, folder);
    assert.match(names.join(" "), /^ONLY PATH REYN_TREE_[0-9a-f]{32}$/);
  });

  it("reports what could not be launched instead of throwing", async () => {
    const launch = (argv: string[], cwd = folder) =>
      spawnTree({ argv, cwd, env: { PATH }, clock: systemClock }).ended;
    const reason = async (argv: string[], cwd?: string) => {
      const end = await launch(argv, cwd);
      return end.status === "launch_failed" ? end.reason : end.status;
    };
    const plain = path.join(folder, "plain");
    writeFileSync(plain, "");
    chmodSync(plain, 0o644);
    assert.equal(
      await reason(["/nowhere/at/all"]),
      "it, or the interpreter of its first line, does not exist",
    );
    assert.equal(await reason([plain]), "it is not executable (EACCES)");
    assert.equal(await reason(["/bin/true"], "/nowhere"), "there is no folder /nowhere");
    assert.match(await reason(["/bin/true", "x".repeat(4 << 20)]), /too long \(E2BIG\)/);
    assert.notEqual(await reason(["/bin/true", "a\0b"]), "exited");
    assert.notEqual(await reason([]), "exited");
  });

  it("gives 10 MiB of input whole", async () => {
    let text = "";
    const { tree } = shell("wc -c", {
      stdin: "x".repeat(10 << 20),
      onStdout: (chunk) => (text += new TextDecoder().decode(chunk)),
    });
    assert.equal((await tree.ended).status, "exited");
    assert.equal(text.trim(), String(10 << 20));
  });

  it("ends well when the child reads none of its 10 MiB of input", async () => {
    const { tree } = shell("exec 0<&-; echo done", { stdin: "x".repeat(10 << 20) });
    assert.deepEqual(await tree.ended, { status: "exited", code: 0, left: 0 });
  });

  it("kills a child that holds its input without reading it", async () => {
    const { tree, mark } = shell("sleep 60", { stdin: "x".repeat(10 << 20) });
    assert.equal((await tree.kill()).status, "signaled");
    assert.deepEqual(carriers(mark), []);
  });

  it("ends when the process ends, though a grandchild holds its output open, and ends that too", async () => {
    let text = "";
    const { tree, mark } = shell("sleep 60 & echo answer", {
      onStdout: (chunk) => (text += new TextDecoder().decode(chunk)),
    });
    assert.deepEqual(await tree.ended, { status: "exited", code: 0, left: 0 });
    assert.equal(text, "answer\n");
    assert.deepEqual(carriers(mark), []);
  });

  it("has read all that was written before the end, though a grandchild holds the output open", async () => {
    let total = 0;
    const { tree } = shell("sleep 60 & head -c 3000000 /dev/zero", {
      onStdout: (_, bytes) => (total = bytes),
    });
    await tree.ended;
    assert.equal(total, 3000000);
  });

  it("has read what was in the pipes at the end, though the runtime was busy then", async () => {
    let total = 0;
    const { tree } = shell("sleep 60 & echo first; sleep 0.1; head -c 60000 /dev/zero", {
      onStdout: (_, bytes) => {
        total = bytes;
        if (bytes === 6) { for (const end = Date.now() + 400; Date.now() < end;); }
      },
    });
    await tree.ended;
    assert.equal(total, 60006);
  });

  it("gives the child time to end by itself, on the clock", async () => {
    const clock = virtualClock();
    let text = "";
    const { tree, mark } = shell("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.02; done", {
      clock,
      graceMs: 5000,
      onStdout: (chunk) => (text += new TextDecoder().decode(chunk)),
    });
    await until(() => text.includes("up"));
    assert.deepEqual(await tree.kill(), { status: "exited", code: 7, left: 0 });
    assert.equal(text, "up\nbye\n");
    assert.equal(clock.armed(), 0);
    assert.deepEqual(carriers(mark), []);
  });

  it("kills what ignores SIGTERM once the grace is over, not before", async () => {
    const clock = virtualClock();
    let text = "";
    const { tree, mark } = shell("trap '' TERM; echo up; while :; do sleep 0.02; done", {
      clock,
      graceMs: 5000,
      onStdout: (chunk) => (text += new TextDecoder().decode(chunk)),
    });
    await until(() => text.includes("up"));
    const killed = tree.kill();
    await until(() => clock.armed() === 1);
    await clock.advance(4999);
    assert.notDeepEqual(carriers(mark), []);
    await clock.advance(1);
    assert.deepEqual(await killed, { status: "signaled", signal: "SIGKILL", left: 0 });
    assert.deepEqual(carriers(mark), []);
  });

  it("cuts a grace that has begun when it has to go now", async () => {
    const clock = virtualClock();
    let text = "";
    const { tree, mark } = shell("trap '' TERM; echo up; while :; do sleep 0.02; done", {
      clock,
      graceMs: 5000,
      onStdout: (chunk) => (text += new TextDecoder().decode(chunk)),
    });
    await until(() => text.includes("up"));
    const killed = tree.kill();
    await until(() => clock.armed() === 1);
    await tree.kill({ now: true });
    assert.deepEqual(await killed, { status: "signaled", signal: "SIGKILL", left: 0 });
    assert.equal(clock.armed(), 0);
    assert.deepEqual(carriers(mark), []);
  });

  it("ends grandchildren that ignore SIGTERM, and ones in a session of their own", async () => {
    let text = "";
    const { tree, mark } = shell(
      `sh -c "trap '' TERM; echo one; while :; do sleep 0.02; done" &
       setsid sh -c "trap '' TERM; echo two; while :; do sleep 0.02; done" &
       (setsid sh -c "trap '' TERM; echo three; while :; do sleep 0.02; done" &) 
       wait`,
      { onStdout: (chunk) => (text += new TextDecoder().decode(chunk)) },
    );
    await until(() => ["one", "two", "three"].every((word) => text.includes(word)));
    assert.ok(carriers(mark).length >= 4);
    assert.equal((await tree.kill()).status, "signaled");
    assert.deepEqual(carriers(mark), []);
  });

  it("ends a daemon that the child left behind, though it lost its parent, its session and its environment", async () => {
    const pidFile = path.join(folder, "daemon.pid");
    let text = "";
    const { tree } = shell(
      `setsid env -i PATH=$PATH sh -c 'echo $$ >${pidFile}; trap "" TERM; echo up; while :; do sleep 0.02; done' & wait`,
      { onStdout: (chunk) => (text += new TextDecoder().decode(chunk)) },
    );
    await until(() => text.includes("up"));
    assert.equal((await tree.kill()).status, "signaled");
    assert.equal(state(Number(readFileSync(pidFile, "utf8"))), "gone");
  });

  it("ends what has left the group only, though its parent and its environment are gone", async () => {
    const pidFile = path.join(folder, "group.pid");
    // timeout(1) moves into a group of its own.
    const { tree } = shell(
      `env -i PATH=$PATH timeout 60 sh -c 'echo $$ >${pidFile}; trap "" TERM; while :; do sleep 0.02; done' &
       until [ -s ${pidFile} ]; do sleep 0.02; done`,
    );
    assert.deepEqual(await tree.ended, { status: "exited", code: 0, left: 0 });
    assert.equal(state(Number(readFileSync(pidFile, "utf8"))), "gone");
  });

  it("takes a second kill, and one after the end, as the same", async () => {
    const { tree } = shell("sleep 60");
    const [first, second] = await Promise.all([tree.kill(), tree.kill()]);
    assert.deepEqual(first, second);
    assert.deepEqual(await tree.kill(), first);
    const other = shell("exit 0").tree;
    await other.ended;
    assert.deepEqual(await other.kill(), { status: "exited", code: 0, left: 0 });
  });

  it("leaves other processes alone", async () => {
    const bystander = shell("sleep 60");
    await shell("sleep 60").tree.kill();
    assert.notDeepEqual(carriers(bystander.mark), []);
    await bystander.tree.kill();
  });
});

/** Processes, zombies aside, whose environment holds the text. */
function carriers(text: string): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    if (state(pid) === "gone") return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}

function state(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const letter = stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "Z";
    return letter === "Z" || letter === "X" ? "gone" : letter;
  } catch {
    return "gone";
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error("waited 5 s in vain");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
