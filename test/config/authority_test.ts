import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { z } from "zod";
import { authority, authorityItems, controlPath, isInside } from "../../src/config/authority.ts";
import { argvOf } from "../../src/config/marks.ts";
import { duration } from "../../src/config/scalars.ts";
import { scratch } from "./scratch.ts";

const FACTS = { controlDir: "/c", home: "/h", operator: undefined };

function paths(schema: z.ZodType, value: unknown, operator?: unknown): string[] {
  return authorityItems(schema, value, { ...FACTS, operator }).map(({ path }) => path.join("."));
}

describe("keys that need the operator's trust", () => {
  it("are found through every wrapper and branch", () => {
    const schema = z.strictObject({
      plain: z.string(),
      list: z.array(z.strictObject({ env: authority(z.string()).optional() })).default([]),
      map: z.record(z.string(), authority(z.number())).optional(),
      either: z.union([z.string(), z.strictObject({ url: authority(z.string()) })]).optional(),
      whole: authority(z.strictObject({ a: z.string() })).nullable().prefault(null),
    });
    const value = {
      plain: "x",
      list: [{}, { env: "A" }],
      map: { k: 1 },
      either: { url: "u" },
      whole: { a: "b" },
    };
    assert.deepEqual(paths(schema, value), ["list.1.env", "map.k", "either.url", "whole"]);
    assert.deepEqual(paths(schema, { plain: "x", either: "text" }), []);
  });

  it("may be a matter of the value", () => {
    const schema = z.strictObject({
      role: authority(z.enum(["user", "system"]), (role) => role === "system"),
    });
    assert.deepEqual(paths(schema, { role: "user" }), []);
    assert.deepEqual(paths(schema, { role: "system" }), ["role"]);
  });

  it("may be a matter of the default and of the operator's own value", () => {
    const looser = z.strictObject({
      loop: z.strictObject({
        grace: authority(duration(), (ms, { operator, fallback }) => ms > (operator ?? fallback ?? 0))
          .prefault(10),
      }).prefault({}),
    });
    assert.deepEqual(paths(looser, { loop: { grace: 9 } }), []);
    assert.deepEqual(paths(looser, { loop: { grace: "11s" } }), ["loop.grace"]);
    assert.deepEqual(paths(looser, { loop: { grace: "11s" } }, { loop: { grace: "1m" } }), []);
    assert.deepEqual(paths(looser, { loop: { grace: "2m" } }, { loop: { grace: "1m" } }), ["loop.grace"]);
  });

  it("know a default that stands around the mark or inside of it", () => {
    const test = (n: number, { fallback }: { fallback: number | undefined }) => n > (fallback ?? 0);
    const schema = z.strictObject({
      outside: authority(z.number(), test).default(5),
      inside: authority(z.number().default(5), test),
    });
    assert.deepEqual(paths(schema, { outside: 5, inside: 5 }), []);
    assert.deepEqual(paths(schema, { outside: 6, inside: 6 }), ["outside", "inside"]);
  });

  it("do not mark the schema for others that use it", () => {
    const shared = z.string();
    assert.deepEqual(paths(z.strictObject({ a: authority(shared), b: shared }), { a: "x", b: "x" }), ["a"]);
  });

  it("carry a reason where there is one", () => {
    const schema = authority(z.number(), () => "it is looser");
    assert.deepEqual(authorityItems(schema, 5, FACTS), [
      { path: [], value: 5, reason: "it is looser", argvs: [] },
    ]);
  });

  it("may be for the operator's own file alone", () => {
    const schema = authority(
      z.enum(["auto", "noop"]),
      (name) => name !== "noop" || { operatorOnly: "never" },
    );
    assert.deepEqual(authorityItems(schema, "auto", FACTS).map((item) => item.operatorOnly), [undefined]);
    assert.deepEqual(authorityItems(schema, "noop", FACTS).map((item) => item.operatorOnly), [true]);
  });

  it("tell the argvs in them, at whatever depth", () => {
    const server = z.strictObject({
      command: argvOf(z.array(z.string())).optional(),
      url: z.string().optional(),
    });
    const schema = authority(z.record(z.string(), server));
    const value = { a: { command: ["x", "y"] }, b: { url: "u" }, c: { command: ["z"] } };
    assert.deepEqual(authorityItems(schema, value, FACTS).map((item) => item.argvs), [[["x", "y"], ["z"]]]);
  });
});

describe("a path of a configuration file", () => {
  it("needs trust when it leaves the control folder", () => {
    const place = scratch({ "in/file": "x" });
    mkdirSync(join(place.home, "x"));
    symlinkSync(place.home, join(place.controlDir, "link"));
    symlinkSync("in", join(place.controlDir, "good"));
    symlinkSync(join(place.home, "none"), join(place.controlDir, "to_come"));
    symlinkSync("in/none", join(place.controlDir, "good_to_come"));
    const facts = { controlDir: place.controlDir, home: place.home, operator: undefined };
    const leaves = (text: string) => authorityItems(controlPath(), text, facts).length === 1;
    for (
      const text of [
        "in/file",
        "./new/file",
        "in/../in/x",
        "good/file",
        "good_to_come/x",
        "..name",
        place.controlDir,
        ".",
      ]
    ) {
      assert.equal(leaves(text), false, text);
    }
    const long = `link/${"x".repeat(300)}`;
    for (
      const text of [
        "../x",
        "in/../../x",
        "/etc/passwd",
        "~/x",
        "~",
        "link/x",
        "link/new/y",
        "..",
        "to_come",
        "to_come/x",
        long,
      ]
    ) {
      assert.equal(leaves(text), true, text);
    }
    place.remove();
  });

  it("is compared by whole names", () => {
    assert.equal(isInside("/a/bc", "/a/b"), false);
    assert.equal(isInside("/a/b", "/a/b"), true);
    assert.equal(isInside("/a/b/c", "/a/b"), true);
    assert.equal(isInside("/a", "/"), true);
  });
});
