import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { checkValue } from "../../src/config/check_value.ts";
import { formatPath } from "../../src/config/path.ts";
import { notYet, refusal, refuse } from "../../src/config/refusal.ts";

function issues(schema: z.ZodType, value: unknown): string[] {
  const checked = checkValue(schema, value);
  if (checked.ok) return [];
  return checked.issues.map(({ code, path, message, fix }) =>
    `${code} ${formatPath(path)}: ${message}${fix === undefined ? "" : ` (${fix})`}`
  );
}

const push = z.strictObject({ message: z.string(), wake: z.boolean().optional() });

describe("judging a value", () => {
  it("gives the schema's output", () => {
    const checked = checkValue(z.strictObject({ a: z.number().default(3) }), {});
    assert.deepEqual(checked, { ok: true, value: { a: 3 } });
  });

  it("names the type that is wanted and what is there", () => {
    const schema = z.strictObject({
      text: z.string(),
      count: z.int(),
      list: z.array(z.string()),
      map: z.record(z.string(), z.string()),
      ratio: z.number(),
    });
    assert.deepEqual(
      issues(schema, { text: null, count: 1.5, list: { a: 1 }, map: ["x"], ratio: "\u001b[2J" }),
      [
        "E_CONFIG_TYPE text: must be text, got nothing",
        "E_CONFIG_TYPE count: must be a whole number, got 1.5",
        "E_CONFIG_TYPE list: must be a list, got a mapping",
        "E_CONFIG_TYPE map: must be a mapping, got a list",
        'E_CONFIG_TYPE ratio: must be a number, got "\\u{1b}[2J"',
      ],
    );
  });

  it("names bounds", () => {
    const schema = z.strictObject({
      n: z.int().min(0).max(9),
      s: z.string().max(2),
      l: z.array(z.string()).min(1),
    });
    assert.deepEqual(issues(schema, { n: 10, s: "abc", l: [] }), [
      "E_CONFIG_TYPE n: must be at most 9, got 10",
      "E_CONFIG_TYPE s: must have at most 2 characters",
      "E_CONFIG_TYPE l: must not be empty",
    ]);
    assert.deepEqual(issues(schema, { n: -1, s: "", l: ["a"] }), [
      "E_CONFIG_TYPE n: must be at least 0, got -1",
    ]);
  });

  it("names the choices, with what was meant", () => {
    const schema = z.strictObject({ on_limit: z.enum(["warn", "ask_user", "abort"]) });
    assert.deepEqual(issues(schema, { on_limit: "AskUser" }), [
      'E_CONFIG_TYPE on_limit: must be one of "warn", "ask_user", "abort", got "AskUser" (did you mean "ask_user"?)',
    ]);
  });

  it("places a missing key at its map", () => {
    const schema = z.strictObject({
      hooks: z.array(z.strictObject({ on: z.string(), push: push.optional() })),
    });
    assert.deepEqual(issues(schema, { hooks: [{ push: {} }] }), [
      'E_CONFIG_MISSING hooks[0]: missing key "on"',
      'E_CONFIG_MISSING hooks[0].push: missing key "message"',
    ]);
  });

  it("refuses each unknown key, with what was meant and what is allowed", () => {
    const checked = checkValue(push, { mesage: "x", wakes: true });
    assert.ok(!checked.ok);
    const unknown = checked.issues.filter(({ code }) => code === "E_KEY_UNKNOWN");
    assert.deepEqual(
      unknown.map(({ message, fix, allowed, at, placeAt }) => [message, fix, allowed, at, placeAt]),
      [
        ['unknown key "mesage"', 'did you mean "message"?', ["message", "wake"], "key", ["mesage"]],
        ['unknown key "wakes"', 'did you mean "wake"?', ["message", "wake"], "key", ["wakes"]],
      ],
    );
  });

  it("judges the key of a record", () => {
    const schema = z.record(z.string().regex(/^[a-z]+$/, { error: "must be lower case" }), z.number());
    assert.deepEqual(issues(schema, { a: 1, "B c": 2 }), [
      'E_CONFIG_TYPE ["B c"]: the key "B c" must be lower case',
    ]);
  });
});

describe("judging a value of several forms", () => {
  it("names all forms when none fits", () => {
    const schema = z.strictObject({ wake: z.union([z.boolean(), z.string()]) });
    assert.deepEqual(issues(schema, { wake: [1] }), [
      "E_CONFIG_TYPE wake: must be true or false or text, got a list",
    ]);
    const auto = z.union([z.literal("auto"), z.int()]);
    assert.deepEqual(issues(auto, "atuo"), [
      'E_CONFIG_TYPE : must be "auto" or a number, got "atuo" (did you mean "auto"?)',
    ]);
  });

  it("goes by the form that fits best", () => {
    const schema = z.union([z.string(), push]);
    assert.deepEqual(issues(schema, { message: 5 }), ["E_CONFIG_TYPE message: must be text, got 5"]);
    const two = z.union([
      z.strictObject({ a: z.string(), b: z.string() }),
      z.strictObject({ c: z.string() }),
    ]);
    assert.deepEqual(issues(two, { a: "x", b: 1 }), ["E_CONFIG_TYPE b: must be text, got 1"]);
  });

  it("goes by the discriminator", () => {
    const schema = z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("echo") }),
      z.strictObject({ kind: z.literal("command"), command: z.array(z.string()) }),
    ]);
    assert.deepEqual(issues(schema, { kind: "comand" }), [
      'E_CONFIG_TYPE kind: must be one of "echo", "command", got "comand" (did you mean "command"?)',
    ]);
    assert.deepEqual(issues(schema, {}), ['E_CONFIG_MISSING : missing key "kind"']);
    assert.deepEqual(issues(schema, { kind: "command", command: [1] }), [
      "E_CONFIG_TYPE command[0]: must be text, got 1",
    ]);
  });
});

describe("a check of a schema's own", () => {
  it("keeps its code, its fix and its place", () => {
    const schema = z.strictObject({
      argv: z.array(z.string()).refine(
        (argv) => argv.length < 2,
        refusal("E_HOOK_ARGV", "is too long", { fix: "cut it" }),
      ),
    });
    assert.deepEqual(issues(schema, { argv: ["a", "b"] }), ["E_HOOK_ARGV argv: is too long (cut it)"]);
    const across = z.strictObject({ a: z.string(), b: z.string() }).superRefine(({ a, b }, context) => {
      if (a === b) refuse(context, "E_HOOK_NAME", "is the same", { path: ["b"], at: "key" });
    });
    const checked = checkValue(across, { a: "x", b: "x" });
    assert.ok(!checked.ok);
    assert.deepEqual(checked.issues.map(({ code, path, at }) => [code, path, at]), [[
      "E_HOOK_NAME",
      ["b"],
      "key",
    ]]);
  });

  it("refuses by name what is not there yet, and does not count it as allowed", () => {
    const schema = z.strictObject({ name: z.string().optional(), profile: notYet("profile", "permissions") });
    assert.deepEqual(issues(schema, {}), []);
    assert.deepEqual(issues(schema, { profile: "x" }), [
      "E_KEY_NOT_YET profile: `profile` is part of permissions, which this version of reyn does not have yet",
    ]);
    const checked = checkValue(schema, { nam: 1 });
    assert.deepEqual(checked.ok ? [] : checked.issues[0]?.allowed, ["name"]);
    const json = z.toJSONSchema(schema, { io: "input" });
    assert.deepEqual(json.properties?.["profile"], {
      not: {},
      description: "not there yet: part of permissions",
    });
  });
});
