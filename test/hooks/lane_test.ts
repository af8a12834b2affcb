import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Hook, Overlap } from "../../src/hooks/hook.ts";
import { createLane } from "../../src/hooks/lane.ts";
import { hookRegistry } from "../../src/hooks/registry.ts";

const hook = (overlap: Overlap): Hook => ({
  layer: "startup",
  index: 0,
  name: "one",
  label: "one",
  attribution: "one",
  target: { kind: "builtin", point: "turn_end" },
  matcher: null,
  noMatch: [],
  enabled: true,
  onError: "continue",
  overlap,
  rateLimit: null,
  awaited: false,
  action: { scheme: "pipeline_launch", pipeline: "p" },
});

/** A run that ends when told to. */
function openRun(log: string[], name: string) {
  let finish = () => {};
  const run = () => {
    log.push(`${name} starts`);
    return new Promise<void>((resolve) => {
      finish = () => {
        log.push(`${name} ends`);
        resolve();
      };
    });
  };
  return { run, finish: () => finish() };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("createLane()", () => {
  it("runs one after the other, in order", async () => {
    const lane = createLane();
    const log: string[] = [];
    const first = openRun(log, "first");
    const second = openRun(log, "second");
    const one = hook("queue");
    assert.equal(lane.add(one, first.run), "queued");
    assert.equal(lane.add(one, second.run), "queued");
    await settle();
    assert.deepEqual(log, ["first starts"]);
    first.finish();
    await settle();
    assert.deepEqual(log, ["first starts", "first ends", "second starts"]);
    second.finish();
    await lane.drained();
    assert.equal(lane.busy, false);
  });

  it("leaves a run out while one is under way, with overlap skip", async () => {
    const lane = createLane();
    const log: string[] = [];
    const first = openRun(log, "first");
    const one = hook("skip");
    lane.add(one, first.run);
    await settle();
    assert.equal(lane.add(one, openRun(log, "second").run), "overlap");
    first.finish();
    await lane.drained();
    assert.equal(lane.add(one, () => Promise.resolve()), "queued");
    await lane.drained();
    assert.deepEqual(log, ["first starts", "first ends"]);
  });

  it("starts at once with overlap parallel", async () => {
    const lane = createLane();
    const log: string[] = [];
    const runs = [openRun(log, "first"), openRun(log, "second")];
    const one = hook("parallel");
    for (const { run } of runs) lane.add(one, run);
    await settle();
    assert.deepEqual(log, ["first starts", "second starts"]);
    for (const { finish } of runs) finish();
    await lane.drained();
  });

  it("takes no more than its bound", async () => {
    const lane = createLane(1);
    const log: string[] = [];
    const first = openRun(log, "first");
    lane.add(hook("queue"), first.run);
    assert.equal(lane.add(hook("queue"), first.run), "full");
    await settle();
    first.finish();
    await lane.drained();
  });
});

describe("hookRegistry()", () => {
  it("gives hooks of a point in declaration order and nothing elsewhere", () => {
    const a = { ...hook("queue"), label: "a" };
    const b = { ...hook("queue"), label: "b" };
    const registry = hookRegistry([a, b]);
    assert.deepEqual(registry.at("turn_end"), [a, b]);
    assert.equal(registry.at("turn_start"), undefined);
  });
});
