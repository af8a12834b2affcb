import type { Audit } from "../audit/audit.ts";
import { showDuration } from "../config/scalars.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { DECISION_POINTS } from "../points/decisions.ts";
import type { PluginQuestion } from "../points/plugin_contract.ts";
import { DEFAULT_PLUGIN_LIMITS } from "../sandbox/wasm/limits.ts";
import { loadModule } from "../sandbox/wasm/load_module.ts";
import type { PluginResult } from "../sandbox/wasm/result.ts";
import type { WasmTarget } from "./declaration.ts";
import { HookFailure } from "./failure.ts";
import type { Loaded } from "./load_local.ts";
import type { PluginCaller } from "./plugin_caller.ts";

export interface PluginOptions {
  /** The hook's name. */
  hook: string;
  /** Of the declaration. */
  folder: string;
  /** Makes the port for this hook. */
  plugins: (() => PluginCaller) | undefined;
  /** Where it is recorded what the plugin says and is refused. */
  audit: Audit | undefined;
}

/**
 * Reads a plugin, runs nothing of it. It is asked at the floor: `{method, params}` in, null or decisions out, no files, no
 * network, no environment. The bytes are those that were read now, whatever becomes of the file.
 */
export function loadPlugin(target: WasmTarget, options: PluginOptions): Loaded {
  const { hook, folder, plugins, audit } = options;
  if (!plugins) return { ok: false, reason: "plugins cannot be run here" };
  const { export: exportName, target: file } = target;
  const { memoryBytes } = DEFAULT_PLUGIN_LIMITS;
  const loaded = loadModule(file, { controlDir: folder, exportName, memoryBytes });
  if (!loaded.ok) return { ok: false, reason: `${file}: ${loaded.reason}` };
  const owner = `decision:${hook}`;
  const caller = plugins();
  caller.warm();
  const config = configOf(target.with);
  const ending = new AbortController();
  return {
    ok: true,
    points: DECISION_POINTS,
    executor: {
      async ask({ point, context, id, limitMs }) {
        const question: PluginQuestion = { method: point, params: { ...context } };
        const result = await caller.call({
          owner,
          module: loaded.module,
          export: exportName,
          input: new TextEncoder().encode(JSON.stringify(question)),
          limits: { timeoutMs: limitMs },
          config: { ...config, "reyn.hook": hook, "reyn.point": point, "reyn.firing_id": id },
          emit: (name, values) => audit?.emit("plugin_emitted", null, { hook, name, values }),
          signal: ending.signal,
        });
        for (const { axis, target: wanted, reason } of result.denied) {
          audit?.emit("plugin_denied", null, { hook, axis, target: wanted, reason });
        }
        if (result.disables) {
          audit?.emit("plugin_disabled", null, {
            hook,
            faults: caller.faults(owner),
            outcome: result.outcome,
          });
        }
        return answerOf(result, limitMs);
      },
      async close() {
        ending.abort();
        await caller.release();
      },
    },
  };
}

/** Texts as they are, all else as JSON. */
function configOf(options: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).map((
      [key, value],
    ) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function answerOf(result: PluginResult, limitMs: number): unknown {
  const { outcome, output } = result;
  if (outcome === "timeout") {
    throw new HookFailure("TimeoutError", `no answer within ${showDuration(limitMs)}`);
  }
  if (outcome !== "ok") throw new HookFailure("PluginFailed", failureOf(result));
  if (output.length === 0) return null;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(output));
  } catch {
    throw new HookFailure("BadAnswer", "the output is not JSON");
  }
}

function failureOf({ outcome, reason, returncode, error, denied: [denied] }: PluginResult): string {
  return [
    `${outcome}: ${reason ?? `it returned ${returncode}`}`,
    ...error === null || error === "" ? [] : [escapeVisible(error)],
    ...denied ? [`${denied.axis} denied: ${denied.reason}`] : [],
  ].join("; ");
}
