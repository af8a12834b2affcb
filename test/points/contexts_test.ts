import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  InputReceived,
  makeContext,
  pointOf,
  SessionSpawn,
  SessionSpawned,
} from "../../src/points/contexts.ts";
import { DECISION_POINTS, decisionFields, isProceedPoint } from "../../src/points/decisions.ts";
import { callHook, handlesPoint, hookKind, LifecycleHooks } from "../../src/points/lifecycle_hooks.ts";
import { readAnswer, readContext } from "../../src/points/read_fields.ts";
import { workItem } from "../../src/points/work_item.ts";

describe("a context", () => {
  it("has the work item as an object of ten fields at every point", () => {
    for (const point of DECISION_POINTS) {
      const { work_item } = makeContext(point);
      assert.deepEqual(Object.keys(work_item), [
        "ref",
        "provider",
        "host",
        "owner",
        "repo",
        "repository",
        "number",
        "kind",
        "url",
        "id",
      ]);
    }
  });

  it("is a plain object with every field at its default", () => {
    assert.deepEqual(makeContext("work_item_start"), {
      work_item: workItemOf(""),
      loop: "",
      command: "",
      actor: "",
      harness: "",
      instance: "",
      proceed: true,
      reason: "",
    });
  });

  it("copies deeply", () => {
    const given = { work_item: workItem("github:o/r#3"), harness_args: ["-x"] };
    const context = new SessionSpawn(given);
    context.work_item.owner = "evil";
    context.harness_args.push("-y");
    assert.equal(given.work_item.owner, "o");
    assert.deepEqual(given.harness_args, ["-x"]);
  });

  it("is told from that of another point, and from a plain object", () => {
    assert.equal(pointOf(new SessionSpawn()), "session_spawn");
    assert.equal(new SessionSpawn() instanceof SessionSpawn, true);
    assert.equal((new InputReceived() as unknown) instanceof SessionSpawn, false);
    assert.equal(pointOf({ ...new SessionSpawn() }), undefined);
  });

  it("can be refused at three points only", () => {
    assert.deepEqual(DECISION_POINTS.filter(isProceedPoint), [
      "work_item_start",
      "session_spawn",
      "input_received",
    ]);
  });
});

function workItemOf(ref: string) {
  return new SessionSpawned({ work_item: ref }).work_item;
}

describe("workItem()", () => {
  it("expands a ref", () => {
    assert.deepEqual(workItem("github:o/r#3"), {
      ref: "github:o/r#3",
      provider: "github",
      host: "github.com",
      owner: "o",
      repo: "r",
      repository: "o/r",
      number: 3,
      kind: "",
      url: "https://github.com/o/r/issues/3",
      id: "issue-3",
    });
  });

  it("puts another host in front of the repository, and knows the address of a pull request", () => {
    const item = workItem("github:ghe.example.com/o/r#12", "pull-request");
    assert.equal(item.repository, "ghe.example.com/o/r");
    assert.equal(item.url, "https://ghe.example.com/o/r/pull/12");
  });

  it("keeps of a ref that it cannot read only the ref and an id", () => {
    for (const ref of ["jira:ABC-1", "toString:o/r#1", "github:o#1", "github:o/r#"]) {
      const { ref: kept, id, ...rest } = workItem(ref);
      assert.equal(kept, ref);
      assert.match(id, /^[A-Za-z0-9._-]+$/);
      assert.deepEqual(new Set(Object.values(rest)), new Set(["", 0]));
    }
  });
});

describe("readContext()", () => {
  it("takes defaults for what is missing, ignores what is unknown, and expands a ref", () => {
    const read = readContext("session_spawn", {
      work_item: "github:o/r#3",
      zeal: 1,
      __proto__: { respawn: true },
    });
    assert.ok(read.ok);
    assert.equal(read.value.work_item.number, 3);
    assert.equal(read.value.respawn, false);
    assert.equal("zeal" in read.value, false);
  });

  it("refuses a known field of the wrong type", () => {
    for (
      const data of [
        { respawn: 1 },
        { harness: null },
        { harness_args: "x" },
        { harness_args: ["x", 1] },
        { work_item: 7 },
        { work_item: { number: "3" } },
        { work_item: { number: 1.5 } },
        { work_item: { owner: null } },
        { endpoint: [] },
        { proceed: "true" },
        { prompt: true },
      ]
    ) {
      const read = readContext("session_spawn", data);
      assert.equal(read.ok, false, JSON.stringify(data));
    }
    assert.equal(readContext("session_spawn", []).ok, false);
    assert.equal(readContext("session_spawn", null).ok, false);
  });
});

describe("readAnswer()", () => {
  it("takes null and undefined as no decision", () => {
    for (const answer of [null, undefined]) {
      assert.deepEqual(readAnswer("session_spawn", answer), { ok: true, value: {} });
    }
  });

  it("takes decisions only, from a context or a plain object", () => {
    const context = new SessionSpawn({ prompt: "p" });
    context.cwd = "/elsewhere";
    assert.deepEqual(readAnswer("session_spawn", context), {
      ok: true,
      value: { prompt: "p", proceed: true, reason: "" },
    });
    assert.deepEqual(readAnswer("session_spawn", { prompt: "q", cwd: "/x", zeal: 1 }), {
      ok: true,
      value: { prompt: "q" },
    });
  });

  it("refuses the whole answer for one wrong type", () => {
    const wrong: unknown[] = [
      { proceed: "no", prompt: "x" },
      { proceed: 0 },
      { prompt: null },
      [],
      "x",
      true,
      7,
    ];
    for (const answer of wrong) {
      assert.equal(readAnswer("session_spawn", answer).ok, false, JSON.stringify(answer));
    }
  });

  it("refuses the context of another point", () => {
    const read = readAnswer("session_spawn", new InputReceived({ text: "x" }));
    assert.deepEqual(read, {
      ok: false,
      reason: "the answer is a context of input_received, not of session_spawn",
    });
  });

  it("does not look at prototypes", () => {
    assert.deepEqual(readAnswer("session_spawn", Object.create({ proceed: false })), { ok: true, value: {} });
  });

  it("reads each decision once", () => {
    let reads = 0;
    const answer = {
      get prompt() {
        return reads++ === 0 ? "text" : 7;
      },
    };
    assert.deepEqual(readAnswer("session_spawn", answer), { ok: true, value: { prompt: "text" } });
  });
});

describe("LifecycleHooks", () => {
  class Two extends LifecycleHooks {
    override session_spawn() {
      return { prompt: "x" };
    }
    override phase_changed = () => ({ notify: false });
  }

  it("knows which points a class overrides, as methods or as fields", () => {
    const hook = new Two();
    assert.deepEqual(DECISION_POINTS.filter((point) => hook.handles(point)), [
      "session_spawn",
      "phase_changed",
    ]);
    assert.equal(handlesPoint(new LifecycleHooks(), "session_spawn"), false);
  });

  it("tells classes and instances by their brand, and not the base itself", () => {
    assert.equal(hookKind(Two), "class");
    assert.equal(hookKind(new Two()), "instance");
    assert.equal(hookKind(LifecycleHooks), undefined);
    for (const other of [class {}, {}, null, "x", () => {}]) assert.equal(hookKind(other), undefined);
  });

  it("knows a class of another copy of the module", () => {
    const brand = Symbol.for("reyn.LifecycleHooks");
    class Copy {}
    Object.defineProperty(Copy, brand, { value: true });
    Object.defineProperty(Copy.prototype, brand, { value: true });
    class Foreign extends Copy {
      work_item_start() {
        return { proceed: false };
      }
    }
    assert.equal(hookKind(Copy), undefined);
    assert.equal(hookKind(Foreign), "class");
    assert.equal(handlesPoint(new Foreign(), "work_item_start"), true);
  });

  it("answers null for a point that is not overridden", () => {
    assert.equal(callHook(new Two(), "input_received", new InputReceived()), null);
    assert.deepEqual(callHook(new Two(), "session_spawn", new SessionSpawn()), { prompt: "x" });
  });

  it("has a decision field at every point", () => {
    for (const point of DECISION_POINTS) assert.ok(decisionFields(point).length > 0);
  });
});
