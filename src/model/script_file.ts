import { z } from "zod";
import { checkValue } from "../config/check_value.ts";
import { findingAt } from "../config/load_file.ts";
import { formatPath } from "../config/path.ts";
import { readTextFile } from "../config/read_file.ts";
import { refusal } from "../config/refusal.ts";
import { duration, nonBlank } from "../config/scalars.ts";
import { parseYaml } from "../config/yaml_document.ts";
import type { Finding } from "../errors/finding.ts";

/** One step of a script: its delay, then its text, then its tool calls; then it fails if it is to. */
export interface ScriptEntry {
  say?: string;
  toolCalls: readonly { name: string; args: Record<string, unknown> }[];
  delayMs: number;
  /** The step fails with this text. */
  fail?: string;
}

const toolCall = z.strictObject({
  name: nonBlank(),
  args: z.record(z.string(), z.unknown()).default({}),
});

const scriptEntry = z.strictObject({
  say: z.string().min(1).optional(),
  tool_calls: z.array(toolCall).min(1).optional(),
  delay: duration().optional(),
  fail: nonBlank().optional(),
}).refine(
  (entry) => entry.say !== undefined || entry.tool_calls !== undefined || entry.fail !== undefined,
  refusal("E_CONFIG_MISSING", "does nothing", { fix: "give it `say`, `tool_calls` or `fail`" }),
);

const script = z.array(scriptEntry);

export type ScriptRead = { state: "ok"; entries: ScriptEntry[] } | { state: "absent" } | {
  state: "failed";
  findings: readonly Finding[];
};

/** Reads a script whole. `shown` is the file's name in findings. */
export function readScript(file: string, shown: string): ScriptRead {
  const read = readTextFile(file, shown);
  if (read.state === "absent") return read;
  if (read.state === "failed") return { state: "failed", findings: [read.finding] };
  const document = parseYaml(read.text, shown, "list");
  if (document.findings.length > 0 || document.value === undefined) {
    return { state: "failed", findings: document.findings };
  }
  const checked = checkValue(script, document.value);
  if (checked.ok) return { state: "ok", entries: checked.value.map(entryOf) };
  const findings = checked.issues.map(({ path, placeAt, code, message, fix, at }) =>
    findingAt({ document, shown }, placeAt, code, message, {
      at,
      subject: formatPath(path),
      ...(fix === undefined ? {} : { fix }),
    })
  );
  return { state: "failed", findings };
}

function entryOf({ say, tool_calls = [], delay = 0, fail }: z.output<typeof scriptEntry>): ScriptEntry {
  return {
    toolCalls: tool_calls,
    delayMs: delay,
    ...(say === undefined ? {} : { say }),
    ...(fail === undefined ? {} : { fail }),
  };
}
