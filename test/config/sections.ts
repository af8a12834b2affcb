import { z } from "zod";
import { authority, controlPath } from "../../src/config/authority.ts";
import { raw } from "../../src/config/marks.ts";
import { notYet } from "../../src/config/refusal.ts";
import { bool, duration, nonBlank, size } from "../../src/config/scalars.ts";
import { LAYERS, listSection, notYetSection, valueSection } from "../../src/config/section.ts";

const limit = authority(
  z.int().min(0).default(25),
  (value, { operator, fallback }) =>
    value === 0 || value > (operator ?? fallback ?? 0) ? "it is looser" : false,
);

/** A small section of each kind, as rooms declare them. */
export const safety = valueSection({
  key: "safety",
  schema: z.strictObject({
    loop: z.strictObject({ limit }).prefault({}),
    on_limit: z.enum(["warn", "ask_user", "abort"]).default("warn"),
    grace: duration().prefault(10),
    cap: size().optional(),
    strict: bool().optional(),
    words: z.array(z.string()).default([]),
    profile: notYet("profile", "permissions"),
  }).prefault({}),
  compile: (value) => value,
});

export const driver = valueSection({
  key: "driver",
  schema: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("echo") }),
    z.strictObject({ kind: z.literal("script"), file: controlPath() }),
    z.strictObject({ kind: z.literal("command"), command: authority(z.array(nonBlank()).min(1)) }),
  ]).optional(),
  compile(value, context) {
    if (value?.kind === "script" && value.file.endsWith(".txt")) {
      context.report(["file"], "E_CONFIG_TYPE", "must be a .yaml file", "rename it");
    }
    return value?.kind === "script" ? context.resolve(value.file) : value?.kind;
  },
});

export const hooks = listSection({
  key: "hooks",
  item: z.strictObject({
    on: nonBlank(),
    name: z.string().optional(),
    matcher: z.record(nonBlank(), z.string()).optional(),
    exec: raw(z.array(z.string())).optional(),
    push: z.strictObject({ message: raw(nonBlank()), wake: z.union([z.boolean(), z.string()]).optional() })
      .optional(),
  }),
  compile(items, context) {
    const names = new Set<string>();
    for (const { index, value } of items) {
      if (value.name !== undefined && names.has(value.name)) {
        context.report([index, "name"], "E_HOOK_NAME", `the name "${value.name}" is taken`);
      }
      if (value.name !== undefined) names.add(value.name);
    }
    return items.map(({ value }) => value);
  },
});

export const disabled = listSection({
  key: "disabled",
  layers: ["session"],
  item: z.string(),
  compile: (items) => items.map(({ value }) => value),
});

export const SECTIONS = [
  safety,
  driver,
  hooks,
  disabled,
  notYetSection("server", "the HTTP server"),
  notYetSection("composers", "event correlation", LAYERS),
];
