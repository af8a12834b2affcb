import assert from "node:assert/strict";
import { finding } from "../../src/errors/reyn_error.ts";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { sequentialIds } from "../../src/clock/ids.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { authorityItems, resolveControlPath } from "../../src/config/authority.ts";
import { checkValue } from "../../src/config/check_value.ts";
import { formatPath } from "../../src/config/path.ts";
import type { Layer } from "../../src/config/section.ts";
import { createModel } from "../../src/model/create_model.ts";
import { type ModelConfig, modelSchema, modelSection } from "../../src/model/section.ts";
import { answer } from "./helpers.ts";

describe("the section model", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "reyn-model-"));
    writeFileSync(path.join(folder, "replies.yaml"), "- say: one\n");
    writeFileSync(path.join(folder, "bad.yaml"), "- sya: one\n- say: 5\n- say: 6\n");
    writeFileSync(path.join(folder, "agent"), "#!/bin/sh\necho agent\n");
    chmodSync(path.join(folder, "agent"), 0o755);
    writeFileSync(path.join(folder, "plain"), "");
    chmodSync(path.join(folder, "plain"), 0o644);
  });
  after(() => rmSync(folder, { recursive: true }));

  function compile(
    value: unknown,
    layers: Readonly<Record<string, Layer>> = {},
  ): { config?: ModelConfig; said: string[] } {
    const checked = checkValue(modelSection.schema, value);
    if (!checked.ok) {
      return {
        said: checked.issues.map(({ code, placeAt, message }) =>
          `${code} ${formatPath(placeAt)}: ${message}`
        ),
      };
    }
    const said: string[] = [];
    const config = modelSection.compile(checked.value, {
      layer: "startup",
      controlDir: folder,
      home: "/nowhere",
      layerOf: ([key]) => layers[String(key)] ?? "startup",
      resolve: (text) => resolveControlPath(text, folder, "/nowhere"),
      finding: (_at, code, message) => finding(code, message),
      report: (at, code, message) => said.push(`${code} ${formatPath(at)}: ${message}`),
    });
    return { config, said };
  }
  const said = (value: unknown, layers?: Readonly<Record<string, Layer>>) => compile(value, layers).said;
  const config = (value: unknown) => {
    const result = compile(value);
    assert.deepEqual(result.said, []);
    return result.config;
  };

  it("echoes when it is absent, and says so", () => {
    assert.deepEqual(compile(undefined), {
      config: { provider: "echo", hookRole: "user" },
      said: ["W_MODEL_ECHO : no model is configured, so every message is echoed"],
    });
  });

  it("echoes silently when asked to", () => {
    assert.deepEqual(config({ provider: "echo" }), { provider: "echo", hookRole: "user" });
  });

  it("reads the script of a scripted model", () => {
    assert.deepEqual(config({ provider: "scripted", script: "replies.yaml", hook_role: "system" }), {
      provider: "scripted",
      hookRole: "system",
      script: [{ say: "one", toolCalls: [], delayMs: 0 }],
    });
  });

  it("places a missing script at the value", () => {
    assert.deepEqual(said({ provider: "scripted", script: "no.yaml" }), [
      'E_FILE_UNREADABLE script: there is no file "no.yaml"',
    ]);
  });

  it("says all that is wrong in a script, with its place there", () => {
    const lines = said({ provider: "scripted", script: "bad.yaml" });
    assert.deepEqual(lines.map((line) => line.split(": ").slice(0, 2).join(": ")), [
      "E_MODEL_SCRIPT script: bad.yaml:1:3 E_KEY_UNKNOWN [0]",
      "E_MODEL_SCRIPT script: bad.yaml:1:3 E_CONFIG_MISSING [0]",
      "E_MODEL_SCRIPT script: bad.yaml:2:8 E_CONFIG_TYPE [1].say",
      "E_MODEL_SCRIPT script: bad.yaml:3:8 E_CONFIG_TYPE [2].say",
    ]);
  });

  it("takes a command and its timeout, 10 minutes unless set", () => {
    const command = ["./agent", "--flag", ""];
    const rest = { provider: "command", hookRole: "user", command };
    assert.deepEqual(config({ provider: "command", command }), { ...rest, timeoutMs: 600_000 });
    assert.deepEqual(config({ provider: "command", command, timeout: "90s" }), {
      ...rest,
      timeoutMs: 90_000,
    });
    assert.deepEqual(config({ provider: "command", command, timeout: 0 }), { ...rest, timeoutMs: 0 });
  });

  it("warns of a command that is not there or cannot run", () => {
    assert.deepEqual(said({ provider: "command", command: ["bin/none"] }), [
      'W_MODEL_COMMAND command[0]: "bin/none" cannot be started: there is no such file',
    ]);
    assert.deepEqual(said({ provider: "command", command: ["./plain"] }), [
      'W_MODEL_COMMAND command[0]: "./plain" cannot be started: it is not executable',
    ]);
  });

  it("wants what its provider needs", () => {
    assert.deepEqual(said({}), ['E_CONFIG_MISSING : missing key "provider"']);
    assert.deepEqual(said({ provider: "scripted" }), ['E_CONFIG_MISSING : missing key "script"']);
    assert.deepEqual(said({ provider: "command" }), ['E_CONFIG_MISSING : missing key "command"']);
  });

  it("refuses keys of another provider by name", () => {
    assert.deepEqual(said({ provider: "echo", script: "replies.yaml", command: ["x"], timeout: 5 }), [
      "E_MODEL_KEY script: `script` belongs to provider scripted, the provider is echo",
      "E_MODEL_KEY command: `command` belongs to provider command, the provider is echo",
      "E_MODEL_KEY timeout: `timeout` belongs to provider command, the provider is echo",
    ]);
  });

  it("lets a higher layer choose another provider than the one whose keys a lower layer set", () => {
    const value = { provider: "echo", script: "replies.yaml" };
    assert.deepEqual(said(value, { script: "operator", provider: "startup" }), []);
    assert.equal(said(value, { script: "startup", provider: "operator" }).length, 1);
  });

  it("refuses by name what does not exist yet", () => {
    for (const provider of ["openai-compatible", "anthropic", "acp"]) {
      assert.match(
        String(said({ provider })),
        new RegExp(`^E_KEY_NOT_YET provider: \`provider: ${provider}\``),
      );
    }
    const keys = said({ provider: "echo", model: "m", base_url: "http://127.0.0.1", api_key_env: "K" });
    assert.deepEqual(keys.map((line) => line.split(":")[0]), [
      "E_KEY_NOT_YET model",
      "E_KEY_NOT_YET base_url",
      "E_KEY_NOT_YET api_key_env",
    ]);
  });

  it("refuses what is not of the right form", () => {
    const refused: readonly [Record<string, unknown>, RegExp][] = [
      [{ provider: "scriptd" }, /^E_CONFIG_TYPE provider: must be one of "echo"/],
      [{ provider: "echo", provder: 1 }, /^E_KEY_UNKNOWN provder: /],
      [{ provider: "command", command: "bin/agent --x" }, /^E_CONFIG_TYPE command: must be a list/],
      [{ provider: "command", command: [] }, /^E_CONFIG_TYPE command: must not be empty/],
      [{ provider: "command", command: [" "] }, /^E_CONFIG_TYPE command\[0\]: must not be blank/],
      [{ provider: "command", command: ["sleep", 5] }, /^E_CONFIG_TYPE command\[1\]: must be text, got 5/],
      [{ provider: "command", command: ["a", "b\0"] }, /^E_CONFIG_TYPE command\[1\]: must not hold a NUL/],
      [
        { provider: "command", command: ["a"], timeout: "soon" },
        /^E_CONFIG_TYPE timeout: must be a duration/,
      ],
      [{ provider: "command", command: ["a"], timeout: -1 }, /^E_CONFIG_TYPE timeout: must be a duration/],
      [
        { provider: "echo", hook_role: "assistant" },
        /^E_CONFIG_TYPE hook_role: must be one of "user", "system"/,
      ],
      [{ provider: "scripted", script: " " }, /^E_CONFIG_TYPE script: must not be blank/],
    ];
    for (const [value, pattern] of refused) assert.match(String(said(value)), pattern);
  });

  it("needs the operator's trust for a command, for system hooks and for a script outside the control folder", () => {
    const needs = (value: unknown) =>
      authorityItems(modelSchema, value, { controlDir: folder, home: "/nowhere", operator: undefined })
        .map((item) => formatPath(item.path));
    assert.deepEqual(needs({ provider: "command", command: ["./agent"], timeout: "5h", hook_role: "user" }), [
      "command",
    ]);
    assert.deepEqual(needs({ provider: "echo", hook_role: "system" }), ["hook_role"]);
    assert.deepEqual(needs({ provider: "scripted", script: "sub/replies.yaml" }), []);
    assert.deepEqual(needs({ provider: "scripted", script: "../replies.yaml" }), ["script"]);
    assert.deepEqual(needs({ provider: "scripted", script: "/etc/replies.yaml" }), ["script"]);
  });

  it("yields the driver that it names", async () => {
    const parts = {
      controlDir: folder,
      clock: virtualClock(),
      env: { PATH: "/usr/bin:/bin" },
      ids: sequentialIds("c"),
    };
    const replies = async (value: unknown) => {
      const made = config(value);
      assert.ok(made);
      const model = createModel(made, parts);
      return `${model.provider}: ${await answer(model)}`;
    };
    assert.equal(await replies({ provider: "echo" }), "echo: echo: hello");
    assert.equal(await replies({ provider: "scripted", script: "replies.yaml" }), "scripted: one");
    assert.equal(await replies({ provider: "command", command: ["./agent"] }), "command: agent");
  });
});
