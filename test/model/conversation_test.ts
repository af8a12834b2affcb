import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forProvider, lastHeard } from "../../src/model/conversation.ts";
import type { ModelMessage } from "../../src/model/model.ts";

const history: readonly ModelMessage[] = [
  { role: "user", text: "one" },
  { role: "user", text: "[hook:a] two", hook: "a" },
  { role: "assistant", text: "three", toolCalls: [{ id: "1", name: "t", args: {} }] },
  { role: "tool", text: "four", toolCallId: "1" },
  { role: "system", text: "[hook:b] five", hook: "b" },
  { role: "system", text: "six" },
];

describe("what a provider sees of a conversation", () => {
  it("is the history in its order, hook messages in the role that is configured", () => {
    const roles = (role: "user" | "system") => forProvider(history, role).map((message) => message.role);
    assert.deepEqual(roles("user"), ["user", "user", "assistant", "tool", "user", "system"]);
    assert.deepEqual(roles("system"), ["user", "system", "assistant", "tool", "system", "system"]);
  });

  it("keeps everything else of every message", () => {
    const plain = (messages: readonly ModelMessage[]) =>
      messages.map((message) => ({ ...message, role: "" }));
    assert.deepEqual(plain(forProvider(history, "system")), plain(history));
  });
});

describe("the last message heard", () => {
  it("is the last one that is not the assistant's", () => {
    assert.equal(lastHeard(history), "six");
    assert.equal(lastHeard(history.slice(0, 3)), "[hook:a] two");
    assert.equal(lastHeard(history.slice(0, 4)), "four");
  });

  it("is empty when there is none", () => {
    assert.equal(lastHeard([{ role: "assistant", text: "x" }]), "");
  });
});
