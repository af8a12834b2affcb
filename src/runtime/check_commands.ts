import type { LayerValue } from "../config/values.ts";
import { type Finding, isError } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { checkExec } from "../hooks/check_exec.ts";
import type { Hook } from "../hooks/hook.ts";
import type { SandboxConfig } from "../sandbox/section.ts";
import { deniedBesides, surroundings } from "./surroundings.ts";

export interface CheckedCommands {
  findings: Finding[];
  /** The layers without those that an error leaves out. */
  usable: readonly LayerValue<Hook[]>[];
  /** An operator or startup layer holds an error. */
  stopsStart: boolean;
  /** Files of other layers that hold one, as findings show them. */
  leftOut: ReadonlySet<string>;
}

/** What only the disk tells of the commands that hooks run: programs that are missing, grants that cannot be. */
export function checkCommands(
  layers: readonly LayerValue<Hook[]>[],
  sandbox: SandboxConfig,
  controlDir: string,
): CheckedCommands {
  const around = surroundings(controlDir);
  const denyRead = deniedBesides(sandbox, around);
  const findings: Finding[] = [];
  const leftOut = new Set<string>();
  let stopsStart = false;
  for (const layer of layers) {
    const found = layer.value.flatMap((hook) => {
      if (hook.action.scheme !== "exec" && hook.action.scheme !== "exec_capture") return [];
      return checkExec(hook.action, { ...around, denyRead }).map(({ path, code, message, fix }) =>
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
