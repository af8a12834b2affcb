import { z } from "zod";
import { findExecutable } from "../adapter/executable.ts";
import { authority, controlPath } from "../config/authority.ts";
import { argvOf } from "../config/marks.ts";
import { notYet, notYetMessage, refuse } from "../config/refusal.ts";
import { duration, NUL_MESSAGE, WITHOUT_NUL } from "../config/scalars.ts";
import { LAYERS, type SectionContext, valueSection } from "../config/section.ts";
import { formatFinding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import type { HookRole } from "./conversation.ts";
import { readScript, type ScriptEntry } from "./script_file.ts";

/** A `model:` ready for use. */
export type ModelConfig =
  & { hookRole: HookRole }
  & (
    | { provider: "echo" }
    | { provider: "scripted"; script: readonly ScriptEntry[] }
    /** `timeoutMs` is for one step; 0 for no bound. */
    | { provider: "command"; command: readonly string[]; timeoutMs: number }
  );

type Provider = ModelConfig["provider"];

export const DEFAULT_TIMEOUT_MS = 600_000;

/** Whose key it is. The other keys belong to every provider. */
const OWNERS = { script: "scripted", command: "command", timeout: "command" } as const;

const API_PROVIDERS = "the API and ACP model providers";

const provider = z.enum(["echo", "scripted", "command", "openai-compatible", "anthropic", "acp"]).transform(
  (name, context): Provider => {
    if (name === "echo" || name === "scripted" || name === "command") return name;
    refuse(context, "E_KEY_NOT_YET", notYetMessage(`provider: ${name}`, API_PROVIDERS), {
      fix: "use echo, scripted or command",
    });
    return z.NEVER;
  },
  // The others are not there yet, so that an editor offers none of them.
).meta({ enum: ["echo", "scripted", "command"] });

const argv = z.array(z.string().regex(WITHOUT_NUL, { error: NUL_MESSAGE })).min(1).superRefine(
  (list, context) => {
    if (list[0]?.trim() === "") refuse(context, "E_CONFIG_TYPE", "must not be blank", { path: [0] });
  },
);

/** The value of `model:`, of the file's own or of an agent's. */
export const modelSchema = z.strictObject({
  provider,
  script: controlPath().optional(),
  command: authority(argvOf(argv)).optional(),
  timeout: duration().optional(),
  hook_role: authority(z.enum(["user", "system"]), (role) => role === "system").default("user"),
  model: notYet("model", API_PROVIDERS),
  base_url: notYet("base_url", API_PROVIDERS),
  api_key_env: notYet("api_key_env", API_PROVIDERS),
});

export type ModelValue = z.output<typeof modelSchema>;

/** The section `model:`. Absent, every step is echoed, and a warning says so. */
export const modelSection = valueSection<ModelValue | undefined, ModelConfig>({
  key: "model",
  schema: modelSchema.optional(),
  compile(value, context) {
    if (value) return compileModel(value, context);
    context.report(
      [],
      "W_MODEL_ECHO",
      "no model is configured, so every message is echoed",
      "set model.provider",
    );
    return { provider: "echo", hookRole: "user" };
  },
});

/** Makes a `model:` ready for use. Where that cannot be done it is reported, and the result is not to be used. */
export function compileModel(value: ModelValue, context: SectionContext): ModelConfig {
  for (const key of ["script", "command", "timeout"] as const) refuseForeign(value, key, context);
  const hookRole = value.hook_role;
  switch (value.provider) {
    case "echo":
      return { provider: "echo", hookRole };
    case "scripted": {
      if (value.script === undefined) reportMissing("script", value.provider, context);
      const script = value.script === undefined ? [] : compileScript(value.script, context);
      return { provider: "scripted", hookRole, script };
    }
    case "command": {
      const { command = [], timeout = DEFAULT_TIMEOUT_MS } = value;
      if (command[0] === undefined) reportMissing("command", value.provider, context);
      else warnOfMissing(command[0], context);
      return { provider: "command", hookRole, command, timeoutMs: timeout };
    }
  }
}

/** A key of another provider is refused, unless a higher layer has since chosen this provider. */
function refuseForeign(value: ModelValue, key: keyof typeof OWNERS, context: SectionContext): void {
  if (value[key] === undefined || OWNERS[key] === value.provider) return;
  const rank = (name: string) => LAYERS.indexOf(context.layerOf([name]));
  if (rank(key) < rank("provider")) return;
  const message = `\`${key}\` belongs to provider ${OWNERS[key]}, the provider is ${value.provider}`;
  context.report([key], "E_MODEL_KEY", message, `remove it, or set provider: ${OWNERS[key]}`, "key");
}

function reportMissing(key: string, of: Provider, context: SectionContext): void {
  context.report([], "E_CONFIG_MISSING", `missing key ${quote(key)}`, `provider ${of} needs it`);
}

function compileScript(text: string, context: SectionContext): readonly ScriptEntry[] {
  const read = readScript(context.resolve(text), text);
  switch (read.state) {
    case "ok":
      return read.entries;
    case "absent":
      context.report(["script"], "E_FILE_UNREADABLE", `there is no file ${quote(text)}`);
      return [];
    case "failed":
      for (const finding of read.findings) {
        context.report(["script"], "E_MODEL_SCRIPT", formatFinding(finding));
      }
      return [];
  }
}

/** Of a bare name only the environment of the run can tell. */
function warnOfMissing(name: string, context: SectionContext): void {
  if (!name.includes("/")) return;
  const found = findExecutable(name, context.controlDir, undefined);
  if (!found.ok) {
    context.report(["command", 0], "W_MODEL_COMMAND", `${quote(name)} cannot be started: ${found.reason}`);
  }
}
