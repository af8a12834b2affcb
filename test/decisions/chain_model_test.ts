import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ChainHook, runChain } from "../../src/decisions/chain.ts";
import { makeContext } from "../../src/points/contexts.ts";
import type { DecisionPoint } from "../../src/points/decision_shapes.ts";
import { DECISION_POINTS, decisionFields } from "../../src/points/decisions.ts";
import { chainHook, chainOptions, memoryAudit } from "./support.ts";

/** What a hook of a random chain does: nothing, fails, or answers these values (a wrong type among them fails). */
type Act = { kind: "nothing" } | { kind: "fails" } | { kind: "answers"; values: Record<string, unknown> };
interface Plan {
  name: string;
  act: Act;
  required: boolean;
  observe: boolean;
  concerned: boolean;
}

/** The rules as they are written, with no regard for how the chain does it. */
function model(point: DecisionPoint, plans: readonly Plan[]) {
  const values: Record<string, unknown> = Object.fromEntries(
    decisionFields(point).map(({ name, initial }) => [name, initial]),
  );
  const canRefuse = "proceed" in values;
  const records: string[] = [];
  let finallyRefusedBy: string | null = null;
  let lastRefuser: string | null = null;
  for (const { name, act, required, observe, concerned } of plans) {
    if (!concerned) continue;
    let wishes: Record<string, unknown> = {};
    const sound = (values: Record<string, unknown>) =>
      decisionFields(point).every(({ name, type }) =>
        values[name] === undefined || typeof values[name] === type
      );
    if (act.kind === "fails" || (act.kind === "answers" && !sound(act.values))) {
      records.push(`failed ${name}`);
      if (required && canRefuse && !observe) {
        wishes = { proceed: false, reason: `the required hook ${name} failed` };
      }
    } else if (act.kind === "answers") wishes = act.values;
    const changes = decisionFields(point).map((field) => field.name)
      .filter((field) => wishes[field] !== undefined && wishes[field] !== values[field]);
    if (changes.length > 0) records.push(`decided ${name} ${changes.join(",")}`);
    if (observe) continue;
    for (const field of changes) {
      const locked = finallyRefusedBy !== null && (field === "proceed" || field === "reason");
      if (!locked) values[field] = wishes[field];
      if (!locked && field === "proceed" && wishes[field] === false) lastRefuser = name;
    }
    if (canRefuse && required && wishes["proceed"] === false && finallyRefusedBy === null) {
      finallyRefusedBy = name;
    }
  }
  const refusedBy = canRefuse && values["proceed"] === false ? finallyRefusedBy ?? lastRefuser : null;
  if (refusedBy !== null) records.push(`refused ${refusedBy}`);
  return { values, refusedBy, records };
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomPlan(next: () => number, index: number, point: DecisionPoint): Plan {
  const kind = next();
  const values: Record<string, unknown> = {};
  for (const { name, type } of decisionFields(point)) {
    if (next() < 0.4) continue;
    const wrong = next() < 0.08;
    if ((type === "boolean") !== wrong) values[name] = next() < 0.5;
    else values[name] = ["", "x", "y"][Math.floor(next() * 3)];
  }
  if (next() < 0.3) values["work_item"] = "changed";
  return {
    name: `h${index}`,
    act: kind < 0.15 ? { kind: "nothing" } : kind < 0.3 ? { kind: "fails" } : { kind: "answers", values },
    required: next() < 0.3,
    observe: next() < 0.15,
    concerned: next() < 0.9,
  };
}

function hookOf({ name, act, required, observe, concerned }: Plan, next: () => number): ChainHook {
  const late = next() < 0.3;
  const answer = () => {
    if (act.kind === "fails") throw new Error("planned");
    return act.kind === "nothing" ? null : act.values;
  };
  return chainHook(name, ({ context }) => {
    Object.assign(context, { proceed: false, prompt: "edited in place", cwd: "edited" });
    return late ? Promise.resolve().then(answer) : answer();
  }, { required, mode: observe ? "observe" : "enforce", matches: () => concerned });
}

describe("random chains", () => {
  it("come to what the rules say", async () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const next = random(seed);
      const point = DECISION_POINTS[Math.floor(next() * DECISION_POINTS.length)] ?? "session_spawn";
      const plans = Array.from(
        { length: Math.floor(next() * 6) },
        (_, index) => randomPlan(next, index, point),
      );
      const audit = memoryAudit();
      const chain = plans.map((plan) => hookOf(plan, next));
      const decided = await runChain(chain, point, makeContext(point), chainOptions(audit));
      const records = audit.events.map(({ type, data }) => {
        const changed = Array.isArray(data["changed"]) ? ` ${data["changed"].join(",")}` : "";
        return `${type.replace("hooks.", "")} ${String(data["hook"])}${changed}`;
      });
      const told = { values: decided.decisions, refusedBy: decided.refusedBy, records };
      assert.deepEqual(told, model(point, plans), `seed ${seed}: ${point} ${JSON.stringify(plans)}`);
    }
  });
});
