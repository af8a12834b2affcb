import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { openAudit } from "../../src/audit/writer.ts";
import { sequentialIds } from "../../src/clock/ids.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import type { Finding } from "../../src/errors/finding.ts";
import { folders, lines, NOON, read, sample, until } from "./helpers.ts";

const folder = folders();
const NAME = "2026-11-30-42.jsonl";

function opened(dir: string) {
  const clock = virtualClock(NOON);
  const problems: Finding[] = [];
  const audit = openAudit({
    dir,
    clock,
    ids: sequentialIds("a"),
    pid: 42,
    onProblem: (problem) => problems.push(problem),
  });
  const emit = (seq: number) =>
    audit.emit("turn_settled", "default/main", { kind: "human", chain_id: null, seq });
  return { audit, clock, emit, problems };
}

async function seqsOf(dir: string): Promise<unknown[]> {
  const { lines: found, problems } = await read(dir);
  assert.deepEqual(problems, []);
  return found.map(({ event }) => event.data["seq"]);
}

function run(command: string, ...args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "ignore" });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

const disk = join(tmpdir(), `reyn-audit-disk-${process.pid}`);
mkdirSync(disk);
const mounted = await run("mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk);
if (!mounted) console.error("NOT TESTED: a full disk (mounting a tmpfs is not permitted here)");

describe("the audit writer on a disk that fails", () => {
  after(async () => {
    if (mounted) await run("umount", disk);
    rmSync(disk, { recursive: true, force: true });
  });

  it("keeps events, reports once, tries again ever more rarely, and loses nothing", async () => {
    const dir = join(folder(), "events");
    writeFileSync(dir, "in the way");
    const { audit, clock, emit, problems } = opened(dir);
    emit(1);
    await audit.flush();
    assert.deepEqual(problems.map(({ code }) => code), ["E_AUDIT_WRITE"]);
    emit(2);
    // Each flush is an attempt; the wait before the next one doubles.
    for (let attempt = 0; attempt < 3; attempt++) await audit.flush();
    assert.equal(problems.length, 1);
    assert.equal(clock.armed(), 1);
    rmSync(dir);
    await clock.advance(799);
    assert.equal(clock.armed(), 1);
    await clock.advance(1);
    await until("it is written", () => existsSync(join(dir, NAME)) && statSync(join(dir, NAME)).size > 0);
    await audit.flush();
    assert.deepEqual(await seqsOf(dir), [1, 2]);

    await audit.close();
    assert.equal(problems.length, 1);
  });

  it("reports a second episode again", async () => {
    const dir = join(folder(), "events");
    const { audit, emit, problems } = opened(dir);
    for (let episode = 1; episode <= 2; episode++) {
      rmSync(dir, { recursive: true, force: true });
      writeFileSync(dir, "in the way");
      emit(1);
      await audit.flush();
      await audit.flush();
      assert.equal(problems.length, episode);
      rmSync(dir);
      await audit.flush();
    }
    await audit.close();
  });

  it("gives up at its close after one attempt, and says how much was lost", async () => {
    const dir = join(folder(), "events");
    writeFileSync(dir, "in the way");
    const { audit, clock, emit, problems } = opened(dir);
    for (let seq = 1; seq <= 3; seq++) emit(seq);
    await audit.close();
    assert.deepEqual(problems.map(({ code }) => code), ["E_AUDIT_WRITE", "E_AUDIT_LOST"]);
    assert.match(problems[1]?.message ?? "", /^3 audit events/);
    assert.equal(clock.armed(), 0);
  });

  it("is not stopped by a report that throws", async () => {
    const dir = join(folder(), "events");
    writeFileSync(dir, "in the way");
    const audit = openAudit({
      dir,
      clock: virtualClock(NOON),
      ids: sequentialIds("a"),
      pid: 42,
      onProblem: () => {
        throw new Error("no");
      },
    });
    audit.emit("session_halted", null, { reason: "x" });
    await audit.flush();
    rmSync(dir);
    await audit.close();
    assert.equal((await read(dir)).ids.length, 1);
  });

  it("writes each event once when a full disk has room again", { skip: !mounted }, async () => {
    const dir = join(disk, "events");
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, new Uint8Array(64 * 1024));
    const { audit, emit, problems } = opened(dir);
    let seq = 0;
    while (problems.length === 0) {
      for (let n = 0; n < 100; n++) emit(++seq);
      await audit.flush();
      assert.ok(seq < 1000, "the disk never got full");
    }
    for (let attempt = 0; attempt < 3; attempt++) await audit.flush();
    assert.deepEqual(problems.map(({ code, message }) => [code, message]), [
      ["E_AUDIT_WRITE", `the disk of ${dir} is full`],
    ]);
    rmSync(ballast);
    emit(++seq);
    await audit.close();
    assert.deepEqual(await seqsOf(dir), Array.from({ length: seq }, (_, index) => index + 1));
    assert.equal(problems.length, 1);
  });

  it("leaves a torn line of an earlier process of the same id on a line of its own", async () => {
    const dir = folder();
    const whole = lines(sample(1));
    writeFileSync(join(dir, NAME), whole + lines(sample(2)).slice(0, 40));
    const { audit, emit } = opened(dir);
    emit(7);
    await audit.close();
    const { lines: found, problems } = await read(dir);
    assert.deepEqual(found.map(({ event }) => event.data["seq"]), [1, 7]);
    assert.deepEqual(problems.map(({ code }) => code), ["W_AUDIT_DAMAGED"]);
    assert.ok(readFileSync(join(dir, NAME), "utf8").startsWith(whole));
  });

  it("saves a line of an earlier process that lacks only its newline", async () => {
    const dir = folder();
    writeFileSync(join(dir, NAME), lines(sample(1)).trimEnd());
    const { audit, emit } = opened(dir);
    emit(2);
    await audit.close();
    assert.deepEqual(await seqsOf(dir), [1, 2]);
  });

  it("takes nothing away that another process appended in between", async () => {
    const dir = folder();
    const { audit, emit } = opened(dir);
    emit(1);
    await audit.flush();
    appendFileSync(join(dir, NAME), lines(sample(2)));
    emit(3);
    await audit.close();
    assert.deepEqual(await seqsOf(dir), [1, 2, 3]);
  });

  it("makes the file anew when the folder was removed", async () => {
    const dir = join(folder(), "events");
    const { audit, emit } = opened(dir);
    emit(1);
    await audit.flush();
    rmSync(dir, { recursive: true });
    emit(2);
    await audit.close();
    assert.deepEqual(await seqsOf(dir), [2]);
  });

  it("follows no link and hangs on no pipe in the place of its file", async () => {
    const linked = folder();
    const target = join(folder(), "target");
    writeFileSync(target, "");
    symlinkSync(target, join(linked, NAME));
    const piped = folder();
    assert.ok(await run("mkfifo", join(piped, NAME)));
    for (const dir of [linked, piped]) {
      const { audit, emit, problems } = opened(dir);
      emit(1);
      await audit.close();
      assert.deepEqual(problems.map(({ code }) => code), ["E_AUDIT_WRITE", "E_AUDIT_LOST"]);
    }
    assert.equal(statSync(target).size, 0);
  });
});

describe("the audit log of a process that was killed", () => {
  it("holds everything that was flushed, and nothing damaged", async () => {
    const dir = join(folder(), "events");
    const program = fileURLToPath(new URL("./writing_child.ts", import.meta.url));
    const args = process.versions["bun"] ? [program, dir] : ["run", "-A", "--no-check", program, dir];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let confirmed = 0;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const last = text.trimEnd().split("\n").at(-1);
      // A number that is cut by the end of a chunk is smaller than the whole.
      confirmed = Math.max(confirmed, Number(last));
      if (confirmed > 1000) child.kill("SIGKILL");
    });
    await new Promise((resolve) => child.on("close", resolve));
    assert.equal(child.signalCode, "SIGKILL");
    assert.ok(confirmed > 1000);
    assert.equal(readdirSync(dir).length, 1);
    const found = await seqsOf(dir);
    assert.ok(found.length >= confirmed, `${found.length} of ${confirmed}`);
    assert.deepEqual(found, Array.from({ length: found.length }, (_, index) => index + 1));
  });
});
