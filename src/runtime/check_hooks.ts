import type { LayerValue } from "../config/values.ts";
import { type Finding, isError } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { checkExec } from "../hooks/check_exec.ts";
import type { CompiledPush } from "../hooks/template_push.ts";
import { parseSessionRef, type SessionRef } from "../hooks/session_ref.ts";
import { didYouMean } from "../config/suggest.ts";
import { quote } from "../errors/quote.ts";
import { commandsOf, type Hook } from "../hooks/hook.ts";
import type { SandboxConfig } from "../sandbox/section.ts";
import { deniedBesides, surroundings } from "./surroundings.ts";

export interface CheckedHooks {
  findings: Finding[];
  /** The layers without those that an error leaves out. */
  usable: readonly LayerValue<Hook[]>[];
  /** An operator or startup layer holds an error. */
  stopsStart: boolean;
  /** Files of other layers that hold one, as findings show them. */
  leftOut: ReadonlySet<string>;
}

export interface CheckHooksOptions {
  sandbox: SandboxConfig;
  controlDir: string;
  /** Declared agents. */
  agents: readonly string[];
  /** The session that the hooks were compiled for. */
  own: SessionRef;
}

/**
 * What a hook's own text does not tell: programs that are missing on disk, grants that cannot be, agents that are not
 * declared.
 */
export function checkHooks(
  layers: readonly LayerValue<Hook[]>[],
  { sandbox, controlDir, agents, own }: CheckHooksOptions,
): CheckedHooks {
  const around = surroundings(controlDir);
  const denyRead = deniedBesides(sandbox, around);
  const findings: Finding[] = [];
  const leftOut = new Set<string>();
  const declared = layers.flatMap(({ value }) => commandsOf(value));
  const commands = () => declared;
  let stopsStart = false;
  for (const layer of layers) {
    const found = layer.value.flatMap((hook) => {
      if (hook.action.scheme === "template_push") {
        return unknownAgent(hook.index, hook.action.push, layer, agents, own);
      }
      if (hook.action.scheme === "pipeline_launch") return [];
      return checkExec(hook.action, { ...around, denyRead, commands }).map(({ path, code, message, fix }) =>
        layer.finding([hook.index, ...path], code, message, fix)
      );
    });
    findings.push(...found);
    if (!found.some(isError)) continue;
    if (layer.layer === "operator" || layer.layer === "startup") {
      stopsStart = true;
      continue;
    }
    leftOut.add(layer.shown);
    const place = { file: layer.shown, line: 1, column: 1 };
    findings.push(finding("W_LAYER_SKIPPED", `this file of the ${layer.layer} layer is left out`, { place }));
  }
  return { findings, usable: layers.filter((layer) => !leftOut.has(layer.shown)), stopsStart, leftOut };
}

function unknownAgent(
  index: number,
  { session }: CompiledPush,
  layer: LayerValue<Hook[]>,
  agents: readonly string[],
  own: SessionRef,
): Finding[] {
  if (typeof session !== "string") return [];
  const { agent } = parseSessionRef(session, own);
  if (agents.includes(agent)) return [];
  const fix = didYouMean(agent, agents) ?? `declared: ${agents.join(", ")}`;
  const path = [index, "template_push", "session"];
  return [layer.finding(path, "E_HOOK_SESSION", `no agent is called ${quote(agent)}`, fix)];
}
