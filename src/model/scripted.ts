import { type Clock, sleep } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { echoOf } from "./echo.ts";
import type { Model } from "./model.ts";
import type { ScriptEntry } from "./script_file.ts";

export interface ScriptedOptions {
  clock: Clock;
  /** Gives the ids of tool calls. */
  ids: Ids;
}

/**
 * Plays a script: one entry a model step, each session from the start. A step that fails or is aborted has used its
 * entry. Past the end it echoes.
 */
export function scriptedModel(entries: readonly ScriptEntry[], { clock, ids }: ScriptedOptions): Model {
  const positions = new Map<string, number>();
  return {
    provider: "scripted",
    async *step(request, signal) {
      signal.throwIfAborted();
      const position = positions.get(request.session) ?? 0;
      const entry = entries[position];
      if (!entry) {
        yield { type: "text", text: echoOf(request) };
        return;
      }
      positions.set(request.session, position + 1);
      if (entry.delayMs > 0) await sleep(clock, entry.delayMs, signal);
      signal.throwIfAborted();
      if (entry.say !== undefined) yield { type: "text", text: entry.say };
      for (const { name, args } of entry.toolCalls) {
        yield { type: "tool_call", call: { id: ids.next(), name, args: structuredClone(args) } };
      }
      if (entry.fail !== undefined) {
        throw new ReynError("E_MODEL_FAILED", `the script says so: ${entry.fail}`);
      }
    },
    async close() {
      positions.clear();
    },
  };
}
