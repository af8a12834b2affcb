import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { type ChainHook, runChain } from "../../src/decisions/chain.ts";
import { InputReceived, makeContext } from "../../src/points/contexts.ts";
import type { SessionSpawn } from "../../src/points/contexts.ts";
import { chainHook, chainOptions, memoryAudit } from "./support.ts";

const facts = () => makeContext("session_spawn", { work_item: "github:o/r#3", cwd: "/w", prompt: "p" });

async function spawn(...chain: ChainHook[]) {
  const audit = memoryAudit();
  const given = facts();
  const decided = await runChain(chain, "session_spawn", given, chainOptions(audit));
  assert.deepEqual(given, facts());
  return { ...decided, audit };
}

describe("runChain()", () => {
  it("leaves everything as it is for a hook that answers nothing", async () => {
    for (const nothing of [null, undefined, Promise.resolve(null), {}]) {
      const { decisions, refusedBy, audit } = await spawn(chainHook("a", () => nothing));
      assert.deepEqual(decisions, { prompt: "p", proceed: true, reason: "" });
      assert.equal(refusedBy, null);
      assert.deepEqual(audit.events, []);
    }
  });

  it("asks in declaration order, each hook seeing what the earlier ones decided", async () => {
    const add = (text: string) =>
      chainHook(`add${text}`, ({ context }) => ({ prompt: (context as SessionSpawn).prompt + text }));
    const { decisions, audit } = await spawn(add("1"), add("2"));
    assert.equal(decisions.prompt, "p12");
    assert.deepEqual(audit.of("hooks.decided").map(({ hook, changed }) => [hook, changed]), [
      ["add1", ["prompt"]],
      ["add2", ["prompt"]],
    ]);
  });

  it("records what a decision changed, with its id, work item and time", async () => {
    const { audit, id } = await spawn(chainHook("a", () => ({ reason: "r", prompt: "q" })));
    const [{ duration_ms, ...rest } = { duration_ms: null }] = audit.of("hooks.decided");
    assert.equal(typeof duration_ms, "number");
    assert.deepEqual(rest, {
      point: "session_spawn",
      hook: "a",
      work_item: "github:o/r#3",
      decision_id: id,
      changed: ["prompt", "reason"],
      mode: "enforce",
    });
  });

  it("records nothing for the value that stood there already", async () => {
    const { audit } = await spawn(chainHook("a", ({ context }) => context));
    assert.deepEqual(audit.events, []);
  });

  it("ignores changed facts and unknown keys, for later hooks too", async () => {
    let seen: unknown;
    const { decisions } = await spawn(
      chainHook("a", ({ context }) => ({ ...context, cwd: "/evil", work_item: null, zeal: 1 })),
      chainHook("b", ({ context }) => void (seen = context)),
    );
    assert.deepEqual(seen, facts());
    assert.deepEqual(Object.keys(decisions), ["prompt", "proceed", "reason"]);
  });

  it("takes nothing from an edit in place, whether the hook then answers null or throws", async () => {
    const edit = (end: () => unknown) =>
      chainHook("a", ({ context }) => {
        const own = context as SessionSpawn;
        own.prompt = "evil";
        own.proceed = false;
        own.work_item.owner = "evil";
        own.harness_args.push("--evil");
        return end();
      });
    let seen: unknown;
    const look = chainHook("b", ({ context }) => void (seen = context));
    const quiet = await spawn(edit(() => null), look);
    assert.equal(quiet.decisions.prompt, "p");
    assert.deepEqual(seen, facts());
    assert.deepEqual(quiet.audit.events, []);
    const loud = await spawn(
      edit(() => {
        throw new Error("late");
      }),
      look,
    );
    assert.deepEqual(seen, facts());
    assert.deepEqual(loud.audit.events.map(({ type }) => type), ["hooks.failed"]);
  });

  it("counts an edit in place that is returned", async () => {
    const { decisions, audit } = await spawn(chainHook("a", ({ context }) => {
      (context as SessionSpawn).prompt = "q";
      return context;
    }));
    assert.equal(decisions.prompt, "q");
    assert.equal(audit.of("hooks.decided").length, 1);
  });

  it("applies nothing of an answer with one wrong type", async () => {
    const { decisions, audit } = await spawn(chainHook("a", () => ({ proceed: "no", prompt: "x" })));
    assert.equal(decisions.prompt, "p");
    assert.match(
      String(audit.of("hooks.failed")[0]?.["error"]),
      /^BadAnswer: the answer's proceed must be a boolean/,
    );
    assert.equal(audit.of("hooks.decided").length, 0);
  });

  it("takes every kind of misbehaviour for a failure, and goes on", async () => {
    const kinds: Record<string, () => unknown> = {
      "another point's context": () => new InputReceived({ text: "x" }),
      "an error": () => {
        throw new TypeError("boom");
      },
      "null thrown": () => {
        throw null;
      },
      "text thrown": () => {
        throw "text";
      },
      "a rejected promise": () => Promise.reject(new Error("later")),
      "rejected with nothing": () => Promise.reject(),
      "a number": () => 7,
      "a list": () => [],
      "a long text": () => ({ prompt: "x".repeat(1024 * 1024 + 1) }),
      "a getter that throws": () => ({
        get prompt() {
          throw new Error("trap");
        },
      }),
      "a proxy that throws": () =>
        new Proxy({}, {
          has() {
            throw new Error("trap");
          },
        }),
      "a then that throws": () => ({
        then() {
          throw new Error("trap");
        },
      }),
      "an error whose message throws": () => {
        throw Object.defineProperty(new Error(), "message", {
          get() {
            throw new Error("trap");
          },
        });
      },
      "a symbol thrown": () => {
        throw Symbol("x");
      },
    };
    for (const [kind, misbehave] of Object.entries(kinds)) {
      const { decisions, audit } = await spawn(
        chainHook("bad", misbehave),
        chainHook("good", () => ({ prompt: "good" })),
      );
      assert.equal(decisions.prompt, "good", kind);
      assert.deepEqual(audit.events.map(({ type, data }) => [type, data["hook"]]), [
        ["hooks.failed", "bad"],
        ["hooks.decided", "good"],
      ], kind);
      assert.ok(String(audit.of("hooks.failed")[0]?.["error"]).length <= 500, kind);
    }
  });

  it("does not follow a thenable that resolves to itself for ever", async () => {
    const loop = {
      then(resolve: (value: unknown) => void) {
        resolve(loop);
      },
    };
    const audit = memoryAudit();
    const options = chainOptions(audit);
    const decided = await runChain(
      [chainHook("loop", () => loop, { timeoutMs: 50 })],
      "session_spawn",
      facts(),
      options,
    );
    assert.equal(decided.refusedBy, null);
  });

  it("refuses when a required hook fails at a point that can be refused, and names it", async () => {
    const { decisions, refusedBy, audit } = await spawn(chainHook("guard", () => {
      throw new Error("down");
    }, { required: true }));
    assert.equal(decisions.proceed, false);
    assert.match(decisions.reason, /guard/);
    assert.equal(refusedBy, "guard");
    assert.equal(audit.of("hooks.failed")[0]?.["required"], true);
    assert.deepEqual(audit.of("hooks.decided")[0]?.["changed"], ["proceed", "reason"]);
    assert.equal(audit.of("hooks.refused")[0]?.["hook"], "guard");
  });

  it("only records a required hook's failure elsewhere", async () => {
    const audit = memoryAudit();
    const guard = chainHook("guard", () => Promise.reject(new Error("down")), { required: true });
    const decided = await runChain(
      [guard],
      "phase_changed",
      makeContext("phase_changed"),
      chainOptions(audit),
    );
    assert.deepEqual(decided.decisions, { notify: true });
    assert.deepEqual(audit.events.map(({ type }) => type), ["hooks.failed"]);
    assert.equal(audit.of("hooks.failed")[0]?.["required"], true);
  });

  it("shows a refusal to later hooks, which may take it back, both recorded", async () => {
    let seen: unknown;
    const refuse = chainHook("a", () => ({ proceed: false, reason: "r" }));
    const { refusedBy, decisions, audit } = await spawn(
      refuse,
      chainHook("b", ({ context }) => {
        seen = context;
        return { proceed: true };
      }),
    );
    const { proceed, reason } = seen as SessionSpawn;
    assert.deepEqual([proceed, reason], [false, "r"]);
    assert.equal(decisions.proceed, true);
    assert.equal(refusedBy, null);
    assert.deepEqual(audit.events.map(({ type, data }) => [type, data["hook"]]), [
      ["hooks.decided", "a"],
      ["hooks.decided", "b"],
    ]);
  });

  it("lets nobody take back a required hook's refusal, by answer or by failure, and records who tried", async () => {
    const guards = [() => ({ proceed: false, reason: "r" }), () => Promise.reject(new Error("down"))];
    for (const guard of guards) {
      const { refusedBy, decisions, audit } = await spawn(
        chainHook("guard", guard, { required: true }),
        chainHook("b", () => ({ proceed: true, reason: "fine", prompt: "q" })),
      );
      assert.equal(decisions.proceed, false);
      assert.notEqual(decisions.reason, "fine");
      assert.equal(decisions.prompt, "q");
      assert.equal(refusedBy, "guard");
      const [, second] = audit.of("hooks.decided");
      assert.deepEqual(second?.["changed"], ["prompt", "proceed", "reason"]);
      assert.deepEqual(second?.["overruled"], ["proceed", "reason"]);
    }
  });

  it("records a refusal once, with its reason, naming the hook", async () => {
    const { audit } = await spawn(
      chainHook("a", () => ({ proceed: false })),
      chainHook("b", () => ({ reason: "because" })),
    );
    const refused = audit.of("hooks.refused");
    assert.equal(refused.length, 1);
    assert.equal(refused[0]?.["hook"], "a");
    assert.equal(refused[0]?.["reason"], "because");
    assert.equal(refused[0]?.["work_item"], "github:o/r#3");
  });

  it("asks a hook that observes, records what it would have decided, and applies nothing", async () => {
    let seen: unknown;
    const { decisions, refusedBy, audit } = await spawn(
      chainHook("shadow", () => ({ proceed: false, reason: "r" }), { mode: "observe", required: true }),
      chainHook("b", ({ context }) => void (seen = context)),
    );
    assert.equal(decisions.proceed, true);
    assert.equal(refusedBy, null);
    assert.deepEqual(seen, facts());
    assert.deepEqual(audit.events.map(({ type, data }) => [type, data["mode"]]), [[
      "hooks.decided",
      "observe",
    ]]);
  });

  it("does not refuse when a required hook that observes fails", async () => {
    const failing = chainHook("shadow", () => Promise.reject(new Error("x")), {
      mode: "observe",
      required: true,
    });
    const { decisions } = await spawn(failing);
    assert.equal(decisions.proceed, true);
  });

  it("does not ask a hook that is not concerned", async () => {
    let calls = 0;
    const { asked, audit } = await spawn(chainHook("a", () => calls++, { matches: () => false }));
    assert.equal(calls, 0);
    assert.equal(asked[0]?.skipped, "no_match");
    assert.deepEqual(audit.events, []);
  });
});

describe("time in runChain()", () => {
  it("passes over a hook that never settles once its time is over, and ignores its late answer", async () => {
    const clock = virtualClock();
    const audit = memoryAudit();
    let late: (answer: unknown) => void = () => {};
    const never = chainHook("never", () => new Promise((resolve) => (late = resolve)), {
      timeoutMs: 5000,
      required: true,
    });
    const running = runChain([never], "session_spawn", facts(), chainOptions(audit, clock));
    await clock.advance(4999);
    assert.deepEqual(audit.events, []);
    await clock.advance(1);
    const decided = await running;
    late({ proceed: true });
    await clock.advance(1000);
    assert.equal(decided.refusedBy, "never");
    assert.equal(audit.of("hooks.failed")[0]?.["error"], "TimeoutError: no answer within 5s");
    assert.equal(audit.of("hooks.failed")[0]?.["duration_ms"], 5000);
    assert.equal(clock.armed(), 0);
  });

  it("is not troubled by a rejection that comes late", async () => {
    const clock = virtualClock();
    let late: (error: Error) => void = () => {};
    const never = chainHook("never", () => new Promise((_, reject) => (late = reject)), { timeoutMs: 10 });
    const running = runChain([never], "session_spawn", facts(), chainOptions(memoryAudit(), clock));
    await clock.advance(10);
    await running;
    late(new Error("late"));
    await clock.advance(10);
  });

  it("bounds the whole chain: what is left of its time goes to the next hook, later ones are not asked", async () => {
    const clock = virtualClock();
    const audit = memoryAudit();
    const never = (name: string) => chainHook(name, () => new Promise(() => {}), { timeoutMs: 3000 });
    let asked = 0;
    const last = chainHook("last", () => asked++, { required: true });
    const options = { ...chainOptions(audit, clock), chainTimeoutMs: 5000 };
    const running = runChain([never("a"), never("b"), last], "session_spawn", facts(), options);
    await clock.advance(5000);
    const decided = await running;
    assert.equal(asked, 0);
    assert.equal(decided.refusedBy, "last");
    assert.deepEqual(audit.of("hooks.failed").map(({ hook, duration_ms }) => [hook, duration_ms]), [
      ["a", 3000],
      ["b", 2000],
      ["last", 0],
    ]);
  });

  it("leaves no timer behind a hook that answers", async () => {
    const clock = virtualClock();
    const chain = [chainHook("a", () => Promise.resolve({ prompt: "q" })), chainHook("b", () => null)];
    await runChain(chain, "session_spawn", facts(), chainOptions(memoryAudit(), clock));
    assert.equal(clock.armed(), 0);
  });

  it("tells an executor to stop when its time is over", async () => {
    const clock = virtualClock();
    let stopped = 0;
    const hook: ChainHook = {
      ...chainHook("a", () => null, { timeoutMs: 10 }),
      executor: { ask: () => new Promise(() => {}), giveUp: () => stopped++ },
    };
    const running = runChain([hook], "session_spawn", facts(), chainOptions(memoryAudit(), clock));
    await clock.advance(10);
    await running;
    assert.equal(stopped, 1);
  });
});
