import { z } from "zod";
import { marked, raw } from "../config/marks.ts";
import { refusal } from "../config/refusal.ts";
import {
  bool,
  duration,
  envName,
  expecting,
  nonBlank,
  NUL_MESSAGE,
  size,
  WITHOUT_NUL,
} from "../config/scalars.ts";
import { LAYERS } from "../config/section.ts";
import { REACTION_POINTS } from "../points/reactions.ts";
import { MOST_MEMORY_BYTES, PAGE_BYTES } from "../sandbox/wasm/limits.ts";

/** The four schemes; a hook has exactly one. */
export const SCHEMES = ["template_push", "exec", "exec_capture", "pipeline_launch"] as const;
export type Scheme = (typeof SCHEMES)[number];

/** Longest name of a hook, in characters. */
const LONGEST_NAME = 200;
/** Controls, invisible and direction characters, and what ends an attribution. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\]]/u;
/** How a hook without a name is referred to; as a name it would be taken for one. */
const INDEX = new RegExp(`^\\s*(${LAYERS.join("|")})?#\\d+\\s*$`);

const text = () => z.string({ error: expecting("must be a string") });

const onKey = text().meta({
  description: "The point: " + REACTION_POINTS.join(", ") + ", or composed:<name>.",
});

const nameKey = text()
  .max(LONGEST_NAME, { error: `must have at most ${LONGEST_NAME} characters` })
  .refine(
    (name) => !UNFIT.test(name),
    refusal("E_HOOK_NAME", "a hook's name may hold neither control characters nor ]"),
  )
  .refine(
    (name) => !INDEX.test(name),
    refusal("E_HOOK_NAME", "reads as the reference of an unnamed hook, <layer>#<index>"),
  )
  .nullable()
  .meta({ description: "Shown in [hook:NAME]; unique in its file. Default: the point." });

const matcherKey = z.record(
  z.string().regex(/\S/, { error: "must not be blank" }),
  text(),
).nullable().meta({ description: "Field to pattern; uri and path are globs, all else is exact." });

/** A template that gives a boolean, or the boolean. */
const boolTemplate = () =>
  raw(z.union([z.boolean(), z.string()], { error: expecting("must be true, false or a template") }));

const templatePush = z.strictObject({
  message: raw(nonBlank()).meta({ description: "Jinja template of the pushed text." }),
  wake: boolTemplate().optional().meta({
    description: "true starts a turn, false waits for the next. Default: true.",
  }),
  push_when: boolTemplate().optional().meta({ description: "false withholds the push. Default: true." }),
  session: raw(text()).nullable().optional().meta({
    description: "The session to push to. Default: this one.",
  }),
});

/** One element of an argv: never a template. */
const argvElement = text()
  .min(1, { error: "must not be empty" })
  .regex(WITHOUT_NUL, { error: NUL_MESSAGE })
  .refine(
    (element) => !element.includes("{{"),
    refusal("E_HOOK_ARGV", "argv is static: {{ is not rendered here", {
      fix: "read the event as JSON from stdin",
    }),
  );

const argv = () =>
  raw(
    z.array(argvElement, { error: expecting("must be a list of strings, one per argument") }).min(1, {
      error: "must have at least one element",
    }),
  );

const inputTemplate = z.union([z.string(), z.record(z.string(), z.json())], {
  error: expecting("must be a mapping or a template"),
});

const pipelineLaunch = z.strictObject({
  name: nonBlank().meta({ description: "The registered pipeline." }),
  input_template: raw(inputTemplate).nullable().optional(),
});

/** A scheme of an older version: refused with what to write instead. */
const renamed = (scheme: string) =>
  marked(
    z.unknown().superRefine((value, context) => {
      context.addIssue({
        code: "custom",
        message: `is called \`${scheme}\` and takes an argv list`,
        params: {
          refusal: { code: "E_HOOK_RENAMED", at: "key", fix: `write ${scheme}: ${migratedArgv(value)}` },
        },
      });
    }).meta({ not: {}, description: `renamed: write ${scheme} with an argv list` }).optional(),
    { notYet: true },
  );

/** `scripts/x.sh --force` as the argv list that does the same, quotes and backslashes read as a POSIX shell does. */
export function migratedArgv(command: unknown): string {
  if (typeof command !== "string") return '["program", "argument"]';
  return `[${splitWords(command).map((word) => JSON.stringify(word)).join(", ")}]`;
}

function splitWords(command: string): string[] {
  if (/[|&;<>()$`*?[\]#~=%!{}\n]/.test(command)) return ["sh", "-c", command];
  const words: string[] = [];
  const pattern = /\s*((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+)/gy;
  for (let match = pattern.exec(command); match; match = pattern.exec(command)) {
    words.push(
      (match[1] ?? "").replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_all, double, single, escaped) => {
        if (double !== undefined) return (double as string).replace(/\\(["\\])/g, "$1");
        return (single ?? escaped) as string;
      }),
    );
  }
  return words.length > 0 ? words : ["program"];
}

const paths = () => raw(z.array(nonBlank(), { error: expecting("must be a list of paths") }));

const configKey = () =>
  z.string().regex(/^(?!argv\b|reyn\.)/, { error: "must not begin with argv or reyn., which are reyn's own" })
    .max(200, { error: "must have at most 200 characters" });

/** A rate as it is written: `10/s`, `60/m`, `100/h`. */
export const rateLimitKey = () =>
  text().regex(/^[1-9]\d{0,8}\/(s|m|h)$/, {
    error: expecting("must be a rate such as 10/s, 60/m or 100/h"),
  });

/** One entry of `hooks:`. What depends on more than one key is checked when the entry is compiled. */
export const hookSchema = z.strictObject({
  on: onKey,
  name: nameKey.optional(),
  matcher: matcherKey.optional(),
  enabled: bool().optional().meta({ description: "false switches the hook off. Default: true." }),
  on_error: z.enum(["continue", "suspend"]).optional().meta({
    description: "suspend: a failure also stops new turns until `reyn sessions resume`. Default: continue.",
  }),
  overlap: z.enum(["queue", "skip", "parallel"]).optional().meta({
    description: "What happens to a run while the last one is under way. Default: queue.",
  }),
  rate_limit: rateLimitKey().optional().meta({ description: "Most runs in a second, minute or hour: 10/m." }),
  await: bool().optional().meta({ description: "false: the session does not wait for this lifecycle hook." }),

  template_push: templatePush.optional(),
  exec: argv().optional(),
  exec_capture: argv().optional(),
  pipeline_launch: pipelineLaunch.optional(),
  shell_exec: renamed("exec"),
  shell_push: renamed("exec_capture"),

  subprocess: bool().optional().meta({ description: "May start further processes. Default: false." }),
  network: raw(
    z.union([z.boolean(), z.array(nonBlank())], {
      error: expecting("must be true or false, or a plugin's list of hosts"),
    }),
  )
    .optional().meta({
      description:
        "true: IP, to anywhere; of a plugin HTTP to public hosts. A list of hosts is for plugins. Default: false.",
    }),
  write_paths: paths().optional().meta({ description: "What it may write. Default: nothing." }),
  timeout: duration({ min: 1 }).optional().meta({ description: "Longest run. Default: 60s." }),
  env: z.array(envName()).optional().meta({ description: "Names of environment variables that it gets." }),
  consent_files: paths().optional(),
  memory: size({ min: PAGE_BYTES, max: MOST_MEMORY_BYTES }).optional().meta({
    description: "Most memory of a plugin. Default: 64MiB.",
  }),
  read_paths: paths().optional().meta({ description: "Folders that a plugin may read. Default: none." }),
  config: z.record(configKey(), text()).optional().meta({
    description: "What a plugin finds as its config.",
  }),
});

export type HookInput = z.output<typeof hookSchema>;

/** Keys that only commands and plugins take. */
export const EXEC_KEYS = ["subprocess", "network", "write_paths", "timeout", "env", "consent_files"] as const;
/** Keys that only plugins take. */
export const PLUGIN_KEYS = ["memory", "read_paths", "config"] as const;
