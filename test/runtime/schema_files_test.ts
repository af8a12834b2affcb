import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { isMapping } from "../../src/config/path.ts";
import { parseYaml } from "../../src/config/yaml_document.ts";
import { SCHEMA_FILES, type SchemaFile, schemaOf } from "../../src/runtime/schema_files.ts";
import { errorsOfReyn, errorsOfSchema } from "./schema_support.ts";

const HOOK = "on: turn_end, template_push: { message: hi }";
const ENV = { N: "7", T: "true", D: "5s", P: "echo", W: "word" };

/** Files of which all is said by form alone: reyn and its schema have to agree. */
const VALID: readonly (readonly [SchemaFile, string])[] = [
  ["startup", "model: { provider: echo }"],
  ["startup", "model: { provider: command, command: [a, b], timeout: 1.5m, hook_role: user }"],
  ["startup", "model:\nhooks:\nsafety:\n"],
  ["startup", "safety: { loop: { max_hook_driven_turns: 3, reset_on: [cron] }, on_limit: abort }"],
  ["startup", "safety: { loop: { max_hook_driven_turns: '${N}' }, on_limit: '${L:-warn}' }"],
  ["startup", "shutdown_grace: ${D}"],
  ["startup", "resume: '${L:-skip}'\nmodel: { provider: echo, hook_role: '${L:-user}' }\n"],
  ["startup", "resume: skip\nshutdown_grace: 0.5\n"],
  ["startup", "agents: { a: , b: { model: { provider: '${P}' } }, c-1_X: {} }"],
  ["startup", "sandbox: { backend: auto, deny_read: [a, ~/b], policy: { network: true, timeout: 3 } }"],
  ["startup", "sandbox: { policy: { network: '${T}' } }"],
  ["startup", `hooks: [{ ${HOOK} }]`],
  ["startup", `hooks: [{ ${HOOK}, name: null, matcher: null, enabled: '\${T}', rate_limit: 10/m }]`],
  [
    "startup",
    "hooks: [{ on: turn_end, template_push: { message: '${N}', wake: '{{ x }}', push_when: false } }]",
  ],
  ["startup", "hooks: [{ on: turn_end, exec: [a, '${N}'], network: true, timeout: 5s, env: ['${W}'] }]"],
  ["startup", "hooks: [{ on: turn_end, exec: [a.wasm], memory: 64MiB, read_paths: [x], config: { a: b } }]"],
  [
    "startup",
    "hooks: [{ on: turn_end, pipeline_launch: { name: p, input_template: { a: [1, { b: null }] } } }]",
  ],
  ["operator", "sandbox: { backend: noop }"],
  ["operator", `hooks: [{ ${HOOK} }]`],
  ["hooks", `hooks: [{ ${HOOK} }]`],
  ["agent", "hooks: []\ncomposers: []\n"],
  ["session", `hooks: [{ ${HOOK} }]\ndisabled: [a, b]\n`],
];

const INVALID: readonly (readonly [SchemaFile, string])[] = [
  ["startup", "shutdown_grace: 1e21"],
  ["startup", "hooks: [{ on: turn_end, exec: [a.wasm], memory: 1 }]"],
  ["startup", 'hooks: [{ on: turn_end, exec: [a, "b\\0c"] }]'],
  ["startup", 'model: { provider: command, command: [a, "b\\0c"] }'],
  ["startup", "modle: { provider: echo }"],
  ["startup", "model: echo"],
  ["startup", "model: { provider: eco }"],
  ["startup", "model: { provider: anthropic }"],
  ["startup", "model: { provider: echo, base_url: x }"],
  ["startup", "model: { provider: command, command: [] }"],
  ["startup", "model: { provider: command, command: a b }"],
  ["startup", "model: { provider: command, command: [1] }"],
  ["startup", "model: { provider: command, command: [a], timeout: soon }"],
  ["startup", "model: { provider: command, command: [a], timeout: -1 }"],
  ["startup", "model: { provider: scripted, script: ' ' }"],
  ["startup", "safety: { loop: { max_hook_driven_turns: 1.5 } }"],
  ["startup", "safety: { loop: { max_hook_driven_turns: -1 } }"],
  ["startup", "safety: { loop: { max_hook_driven_turns: '3' } }"],
  ["startup", "safety: { loop: { reset_on: [crom] } }"],
  ["startup", "safety: { loop: }"],
  ["startup", "safety: { on_limit: [warn] }"],
  ["startup", "resume: maybe"],
  ["startup", "shutdown_grace: true"],
  ["startup", "agents: { 'a b': {} }"],
  ["startup", "agents: { a: { profile: x } }"],
  ["startup", "agents: { a: { instructions: 3 } }"],
  ["startup", "sandbox: { backend: container }"],
  ["startup", "sandbox: { deny_read: /srv }"],
  ["startup", "sandbox: { policy: { network: yes } }"],
  ["startup", "server: { port: 99999 }"],
  ["startup", "server: { tokens: [{ name: a, env: A, scopes: [all] }] }"],
  ["startup", "disabled: [a]"],
  ["startup", `hooks: { ${HOOK} }`],
  ["startup", "hooks: [{ template_push: { message: hi } }]"],
  ["startup", `hooks: [{ ${HOOK}, onn: x }]`],
  ["startup", `hooks: [{ ${HOOK}, enabled: yes }]`],
  ["startup", `hooks: [{ ${HOOK}, rate_limit: 10 }]`],
  ["startup", `hooks: [{ ${HOOK}, matcher: { a: 1 } }]`],
  ["startup", "hooks: [{ on: turn_end, template_push: { message: '' } }]"],
  ["startup", "hooks: [{ on: turn_end, template_push: { wake: true } }]"],
  ["startup", "hooks: [{ on: turn_end, template_push: { message: x, wake: 1 } }]"],
  ["startup", "hooks: [{ on: turn_end, exec: touch x }]"],
  ["startup", "hooks: [{ on: turn_end, exec: [] }]"],
  ["startup", "hooks: [{ on: turn_end, exec: [a, 1] }]"],
  ["startup", "hooks: [{ on: turn_end, exec: [a], env: [1A] }]"],
  ["startup", "hooks: [{ on: turn_end, exec: [a], write_paths: x }]"],
  ["startup", "hooks: [{ on: turn_end, exec: [a.wasm], memory: 64MB }]"],
  ["startup", "hooks: ['${N}']"],
  ["startup", "hooks: '${N}'"],
  ["startup", "model: '${P}'"],
  ["startup", "agents: { a: '${P}' }"],
  ["startup", "safety: { loop: '${N}' }"],
  ["startup", "hooks: [{ on: turn_end, exec: '${W}' }]"],
  ["operator", "disabled: [a]"],
  ["hooks", "safety: { on_limit: warn }"],
  ["hooks", "sandbox: { backend: auto }"],
  ["hooks", "disabled: [a]"],
  ["hooks", "hooks: [{ on: turn_end, exec: [a], subprocess: '${T}' }]"],
  ["agent", "model: { provider: echo }"],
  ["session", "disabled: a"],
  ["session", "disabled: ['']"],
  ["session", "composers: x"],
  ["session", "composers: [{ nme: a }]"],
];

describe("the schema of a configuration file", () => {
  it("is draft 2020-12, says what it is for, and holds no marks of its making", () => {
    for (const name of Object.keys(SCHEMA_FILES) as SchemaFile[]) {
      const schema = schemaOf(name);
      assert.equal(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
      assert.equal(schema["title"], `reyn: ${SCHEMA_FILES[name].file}`);
      assert.doesNotMatch(JSON.stringify(schema), /x-raw|x-reyn/);
    }
  });

  it("has the keys of its layer, with what they are for", () => {
    const keys = (name: SchemaFile) => {
      const { properties } = schemaOf(name);
      return isMapping(properties) ? Object.keys(properties).sort() : [];
    };
    assert.deepEqual(keys("hooks"), ["composers", "hooks"]);
    assert.deepEqual(keys("agent"), ["composers", "hooks"]);
    assert.deepEqual(keys("session"), ["composers", "disabled", "hooks"]);
    for (const key of ["agents", "hooks", "model", "resume", "safety", "sandbox", "shutdown_grace"]) {
      assert.ok(keys("startup").includes(key) && keys("operator").includes(key), key);
    }
    assert.match(JSON.stringify(schemaOf("startup")), /Turns triggered from inside in a row/);
  });

  for (const [file, text] of VALID) {
    it(`and reyn take ${file}: ${text.replaceAll("\n", "; ")}`, () => {
      assert.deepEqual(errorsOfReyn(file, text, ENV), []);
      assert.deepEqual(errorsOfSchema(file, text), []);
    });
  }

  for (const [file, text] of INVALID) {
    it(`and reyn refuse ${file}: ${text}`, () => {
      assert.notDeepEqual(errorsOfReyn(file, text, ENV), []);
      assert.notDeepEqual(errorsOfSchema(file, text), []);
    });
  }

  it("refuses nothing that reyn takes, of all the files that cases and examples hold", () => {
    const texts = filesOfCases();
    assert.ok(texts.length > 150, `${texts.length}`);
    let judged = 0;
    for (const text of texts) {
      const bySchema = errorsOfSchema("startup", text);
      if (bySchema === undefined) continue;
      judged += 1;
      if (bySchema.length > 0) {
        assert.notDeepEqual(errorsOfReyn("startup", text), [], [text, ...bySchema].join("\n"));
      }
    }
    assert.ok(judged > 150, `${judged}`);
  });
});

/** Every text of a `reyn.yaml` in the black-box cases that is written out whole, and the examples of the manual. */
function filesOfCases(): string[] {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const texts = globSync("docs/examples/*/reyn.yaml", { cwd: root }).map((name) =>
    readFileSync(root + name, "utf8")
  );
  for (const name of globSync("test/cases/*/*/case.yaml", { cwd: root })) {
    const { value } = parseYaml(readFileSync(root + name, "utf8"), name);
    const files = isMapping(value) ? value["files"] : undefined;
    if (!isMapping(files)) continue;
    for (const [file, text] of Object.entries(files)) {
      const isConfig = file === "reyn.yaml" || file === "reyn.local.yaml";
      if (isConfig && typeof text === "string" && !text.includes("<<")) texts.push(text);
    }
  }
  return [...new Set(texts)];
}
