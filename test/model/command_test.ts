import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { ReynError } from "../../src/errors/reyn_error.ts";
import { commandModel, type CommandOptions, OUTPUT_LIMIT } from "../../src/model/command.ts";
import type { Model } from "../../src/model/model.ts";
import { answer, deltasOf, hello, request, until } from "./helpers.ts";

describe("the command model", () => {
  let folder = "";
  let count = 0;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "reyn-command-"));
    mkdirSync(path.join(folder, "bin"));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** A model of a shell script; `mark` is in the environment of all that it starts. */
  function shell(script: string, options: Partial<CommandOptions> = {}): { model: Model; mark: string } {
    const mark = `${process.pid}.${++count}.`;
    const model = commandModel({
      command: ["/bin/sh", "-c", script],
      controlDir: folder,
      env: { PATH: "/usr/bin:/bin", REYN_TEST_MODEL: mark },
      clock: systemClock,
      timeoutMs: 20_000,
      hookRole: "user",
      graceMs: 100,
      ...options,
    });
    return { model, mark: `REYN_TEST_MODEL=${mark}` };
  }

  /** The failure of one step, after which nothing of the command may be left and the next step must work as well. */
  async function failure(script: string, options: Partial<CommandOptions> = {}): Promise<ReynError> {
    const { model, mark } = shell(script, options);
    try {
      await answer(model);
    } catch (error) {
      assert.deepEqual(carriers(mark), []);
      assert.ok(error instanceof Error && "code" in error, String(error));
      return error as ReynError;
    }
    throw new Error("the step did not fail");
  }

  it("answers with what the command writes, one newline less", async () => {
    const clock = virtualClock();
    assert.equal(await answer(shell("cat >/dev/null; echo one; echo two", { clock }).model), "one\ntwo");
    assert.equal(clock.armed(), 0);
  });

  it("finds the agent's workspace in REYN_WORKSPACE, whatever reyn's own environment says of it", async () => {
    let made = 0;
    const { model } = shell('echo "$REYN_WORKSPACE"; pwd', {
      env: { PATH: "/usr/bin:/bin", REYN_WORKSPACE: "/elsewhere" },
      workspace: () => Promise.resolve(`${folder}/made ${++made}`),
    });
    assert.equal(await answer(model), `${folder}/made 1\n${folder}`);
    assert.equal(await answer(model), `${folder}/made 2\n${folder}`);
  });

  it("does not run where the workspace cannot be made", async () => {
    const { model } = shell("touch ran", {
      workspace: () => Promise.reject(new ReynError("E_WORKSPACE", "no room")),
    });
    await assert.rejects(answer(model), { code: "E_WORKSPACE", message: "no room" });
    assert.equal(readdirSync(folder).includes("ran"), false);
  });

  it("makes no workspace for a command that may not run", async () => {
    const { model } = shell("true", {
      recheck: () => Promise.resolve("edited"),
      workspace: () => assert.fail("was asked"),
    });
    await assert.rejects(answer(model), { code: "E_PROJECT_UNTRUSTED" });
  });

  it("does not start when it is aborted or closed while the workspace is made", async () => {
    const aborter = new AbortController();
    const reason = new Error("stopped");
    const late = (then: () => void) => ({
      workspace: () => {
        then();
        return Promise.resolve(folder);
      },
    });
    const aborted = shell("touch ran", late(() => aborter.abort(reason)));
    await assert.rejects(answer(aborted.model, undefined, aborter.signal), reason);
    const closed: { model: Model } = shell("touch ran", late(() => void closed.model.close()));
    await assert.rejects(answer(closed.model), { code: "E_MODEL_FAILED" });
    assert.equal(readdirSync(folder).includes("ran"), false);
  });

  it("sends the request as one line of JSON, then the end", async () => {
    const { model } = shell("cat > seen; wc -l < seen");
    const asked = request([
      { role: "user", text: "a\nb \ud800 é" },
      { role: "system", text: "[hook:x] c", hook: "x" },
      { role: "assistant", text: "", toolCalls: [{ id: "1", name: "t", args: { p: 1 } }] },
      { role: "tool", text: "d", toolCallId: "1" },
    ], { turn: 7, step: 2, instructions: "be brief" });
    assert.equal((await answer(model, asked)).trim(), "1");
    const seen = readFileSync(path.join(folder, "seen"), "utf8");
    assert.ok(seen.endsWith("}\n"));
    assert.ok(seen.includes("\\ud800 é"));
    assert.deepEqual(JSON.parse(seen), {
      session: "default/main",
      agent: "default",
      turn: 7,
      step: 2,
      instructions: "be brief",
      messages: [
        { role: "user", text: "a\nb \ud800 é" },
        { role: "user", text: "[hook:x] c", hook: "x" },
        { role: "assistant", text: "", tool_calls: [{ id: "1", name: "t", args: { p: 1 } }] },
        { role: "tool", text: "d", tool_call_id: "1" },
      ],
    });
  });

  it("sends hook messages as system messages where that is configured", async () => {
    const { model } = shell("cat", { hookRole: "system" });
    const reply = await answer(model, request([{ role: "user", text: "[hook:x] c", hook: "x" }]));
    assert.deepEqual(JSON.parse(reply).messages, [{ role: "system", text: "[hook:x] c", hook: "x" }]);
  });

  it("takes a message of 10 MiB", async () => {
    const { model } = shell("wc -c");
    const size = Number(await answer(model, request([{ role: "user", text: "é".repeat(5 << 20) }])));
    assert.ok(size > 10 << 20 && size < (10 << 20) + 200, String(size));
  });

  it("takes the answer of a command that does not read a 10 MiB message", async () => {
    const { model } = shell("echo fine");
    assert.equal(await answer(model, request([{ role: "user", text: "x".repeat(10 << 20) }])), "fine");
  });

  it("streams: text is given while the command still runs", async () => {
    const { model } = shell("echo first; while [ ! -e go ]; do sleep 0.02; done; echo second");
    const steps = model.step(request(hello), new AbortController().signal)[Symbol.asyncIterator]();
    assert.deepEqual(await steps.next(), { done: false, value: { type: "text", text: "first" } });
    writeFileSync(path.join(folder, "go"), "");
    assert.deepEqual(await steps.next(), { done: false, value: { type: "text", text: "\nsecond" } });
    assert.deepEqual(await steps.next(), { done: true, value: undefined });
  });

  it("joins characters that come in pieces", async () => {
    const script = "printf '\\360\\237'; sleep 0.05; printf '\\230\\200\\303'; sleep 0.05; printf '\\251'";
    assert.equal(await answer(shell(script).model), "😀é");
  });

  it("runs in the control folder without what injects code", async () => {
    const env = { PATH: "/usr/bin:/bin", KEPT: "1", NODE_OPTIONS: "x", BUN_OPTIONS: "x", LD_BIND_NOW: "1" };
    const reply = await answer(
      shell('pwd; echo "$KEPT[$NODE_OPTIONS$BUN_OPTIONS$LD_BIND_NOW]"', { env }).model,
    );
    assert.equal(reply, `${folder}\n1[]`);
  });

  it("takes a name with a slash from the control folder and a bare one from PATH", async () => {
    const file = path.join(folder, "bin/agent");
    writeFileSync(file, '#!/bin/sh\necho "agent $1"\n');
    chmodSync(file, 0o755);
    assert.equal(await answer(shell("", { command: ["bin/agent", "a b"] }).model), "agent a b");
    const env = { PATH: path.join(folder, "bin") };
    assert.equal(await answer(shell("", { command: ["agent", "x"], env }).model), "agent x");
    const error = await failure("", { command: ["agent"] });
    assert.equal(error.code, "E_MODEL_FAILED");
    assert.equal(error.message, 'the model command "agent" could not be started: it is not in PATH');
  });

  it("says that an interpreter is missing", async () => {
    const file = path.join(folder, "bin/lost");
    writeFileSync(file, "#!/nowhere/sh\n");
    chmodSync(file, 0o755);
    const error = await failure("", { command: ["bin/lost"] });
    assert.match(
      error.message,
      /could not be started: it, or the interpreter of its first line, does not exist/,
    );
  });

  it("says how the command failed, with the end of its stderr", async () => {
    const error = await failure("echo partial; printf 'out of \u001bcredit\nsorry\n' >&2; exit 3");
    assert.equal(error.code, "E_MODEL_FAILED");
    assert.equal(
      error.message,
      'the model command "/bin/sh" exited with 3; its stderr ended with "out of \\u{1b}credit\\nsorry"',
    );
    const signalled = await failure("kill -9 $$");
    assert.equal(signalled.code, "E_MODEL_FAILED");
    assert.equal(signalled.message, 'the model command "/bin/sh" was ended by SIGKILL');
  });

  it("shows at most 500 bytes of stderr, the last ones", async () => {
    const error = await failure("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo LAST >&2; exit 1");
    assert.match(error.message, / "x{495}LAST"$/);
  });

  it("refuses an answer that is none", async () => {
    const said = async (script: string) => {
      const { code, message } = await failure(script);
      return `${code} ${message}`;
    };
    const start = 'E_MODEL_OUTPUT the model command "/bin/sh" did not answer: its reply';
    assert.equal(await said("true"), `${start} is empty`);
    assert.equal(await said("echo"), `${start} is empty`);
    assert.equal(await said("printf 'a\\377'; sleep 60"), `${start} is not UTF-8`);
    assert.equal(await said("printf 'a\\303'"), `${start} is not UTF-8`);
    assert.equal(await said("printf 'a\\0b'; sleep 60"), `${start} holds a NUL byte`);
  });

  it("ends a command that floods its stdout", async () => {
    const error = await failure("trap '' TERM; yes");
    assert.equal(error.code, "E_MODEL_OUTPUT");
    assert.match(error.message, /its reply is longer than 4MiB \(output_limit\)/);
  });

  it("takes an answer as long as the limit", async () => {
    const reply = await answer(shell(`head -c ${OUTPUT_LIMIT} /dev/zero | tr '\\0' x`).model);
    assert.equal(reply.length, OUTPUT_LIMIT);
  });

  it("takes the answer of a command that floods its stderr", async () => {
    assert.equal(await answer(shell("head -c 30000000 /dev/zero >&2; echo fine").model), "fine");
  });

  it("ends a command that never answers after the timeout, on the clock", async () => {
    const clock = virtualClock();
    const { model, mark } = shell("echo started >&2; sleep 600 & sleep 600", { clock, timeoutMs: 600_000 });
    const asked = answer(model).then(() => undefined, (error: ReynError) => error);
    await until(() => carriers(mark).length === 3);
    await clock.advance(599_999);
    assert.equal(carriers(mark).length, 3);
    await clock.advance(1);
    const error = await asked;
    assert.equal(error?.code, "E_MODEL_TIMEOUT");
    assert.match(error?.message ?? "", /did not answer within 10m/);
    assert.deepEqual(carriers(mark), []);
    assert.equal(clock.armed(), 0);
  });

  it("does not take the end of stdout for the end of the command", async () => {
    const error = await failure("echo done; exec >&-; sleep 600", { timeoutMs: 200 });
    assert.equal(error.code, "E_MODEL_TIMEOUT");
    const late = await failure("echo done; exec >&-; sleep 0.1; exit 4");
    assert.match(late.message, /exited with 4/);
  });

  it("takes the answer when the command ends though a grandchild holds its stdout, and ends that", async () => {
    const { model, mark } = shell("sleep 600 & setsid sleep 600 & echo fine");
    assert.equal(await answer(model), "fine");
    assert.deepEqual(carriers(mark), []);
  });

  it("on an abort throws the reason once all that the command started is gone", async () => {
    const stubborn = "trap '' TERM; while :; do sleep 0.02; done";
    const { model, mark } = shell(`sh -c "${stubborn}" & (setsid sh -c "${stubborn}" &) \n ${stubborn}`);
    const controller = new AbortController();
    const asked = answer(model, undefined, controller.signal);
    await until(() => carriers(mark).length >= 3);
    const reason = new Error("cancelled by the operator");
    controller.abort(reason);
    await assert.rejects(asked, (error) => error === reason && carriers(mark).length === 0);
  });

  it("starts nothing when it is aborted before", async () => {
    const { model } = shell("touch ran; echo x");
    await assert.rejects(answer(model, undefined, AbortSignal.abort(new Error("no"))), /^Error: no$/);
    assert.ok(!readdirSync(folder).includes("ran"));
  });

  it("ends the command when nobody reads on", async () => {
    const { model, mark } = shell("echo first; sleep 600");
    for await (const _ of model.step(request(hello), new AbortController().signal)) break;
    assert.deepEqual(carriers(mark), []);
  });

  it("ends what runs when it is closed, and starts nothing after", async () => {
    const { model, mark } = shell("sleep 600");
    const asked = assert.rejects(answer(model), { code: "E_MODEL_FAILED", message: /the model was closed/ });
    await until(() => carriers(mark).length > 0);
    await model.close();
    assert.deepEqual(carriers(mark), []);
    await asked;
    await assert.rejects(answer(model), { code: "E_MODEL_FAILED" });
  });

  it("runs steps of several sessions side by side", async () => {
    const { model } = shell("cat");
    const sessions = ["a", "b", "c"];
    const replies = await Promise.all(
      sessions.map((session) => answer(model, request(hello, { session }))),
    );
    assert.deepEqual(replies.map((reply) => JSON.parse(reply).session), sessions);
  });

  it("stays usable after a failure", async () => {
    const { model } = shell("if [ -e failed ]; then echo back; else touch failed; exit 1; fi");
    await assert.rejects(deltasOf(model), { code: "E_MODEL_FAILED" });
    assert.equal(await answer(model), "back");
  });
});

/** Processes, zombies aside, whose environment holds the text. */
function carriers(text: string): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const dead = ["Z", "X"].includes(stat[stat.lastIndexOf(")") + 2] ?? "");
      return !dead && readFileSync(`/proc/${pid}/environ`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}
