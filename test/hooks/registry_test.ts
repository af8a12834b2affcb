import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Layer } from "../../src/config/section.ts";
import type { Hook } from "../../src/hooks/hook.ts";
import { hookRegistry } from "../../src/hooks/registry.ts";

const hook = (layer: Layer, index: number, name: string | null): Hook => ({
  layer,
  index,
  name,
  label: name ?? `${layer}#${index}`,
  attribution: name ?? "turn_end",
  target: { kind: "builtin", point: "turn_end" },
  matcher: null,
  noMatch: [],
  enabled: true,
  onError: "continue",
  overlap: "queue",
  rateLimit: null,
  awaited: true,
  action: { scheme: "pipeline_launch", pipeline: "p" },
});

const labels = (...hooks: Hook[]) => hookRegistry(hooks).at("turn_end")?.map(({ label }) => label);

describe("the registry of hooks", () => {
  it("leaves labels alone where each is one hook's only", () => {
    assert.deepEqual(labels(hook("startup", 0, "a"), hook("startup", 1, null), hook("agent", 0, "b")), [
      "a",
      "startup#1",
      "b",
    ]);
  });

  it("tells hooks of several layers that share a name apart by their layer", () => {
    assert.deepEqual(labels(hook("startup", 0, "a"), hook("agent", 0, "b"), hook("agent", 1, "a")), [
      "startup:a",
      "b",
      "agent:a",
    ]);
  });

  it("gives no two hooks one label even where a name looks like another's label", () => {
    const given = [hook("startup", 0, "a"), hook("agent", 0, "startup:a"), hook("agent", 1, "a")];
    assert.deepEqual(labels(...given), ["startup#0", "agent#0", "agent:a"]);
  });

  it("keeps the name that messages are attributed to", () => {
    const [first] = hookRegistry([hook("startup", 0, "a"), hook("agent", 0, "a")]).at("turn_end") ?? [];
    assert.equal(first?.name, "a");
    assert.equal(first?.attribution, "a");
  });
});
