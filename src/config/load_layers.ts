import { statSync } from "node:fs";
import type { Finding } from "../errors/finding.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { finding } from "../errors/reyn_error.ts";
import {
  agentFile,
  type ConfigFile,
  operatorFile,
  runtimeFiles,
  sessionFile,
  startupFiles,
} from "./control_paths.ts";
import { addFinding, errorCount, hasErrors, type LoadedFile, loadFile } from "./load_file.ts";
import { loadListSection, loadValueSection } from "./load_section.ts";
import type { Surroundings } from "./prepare_value.ts";
import { type FileRead, readTextFile } from "./read_file.ts";
import type { AnySection, Layer } from "./section.ts";
import type { JudgedClaim } from "./trust_claim.ts";
import { createValues, type Values, type ValuesBuilder } from "./values.ts";

export interface LayersOptions extends Surroundings {
  sections: readonly AnySection[];
  /** The agent whose layer is read; none when absent. */
  agent?: string;
  /** The session id, without its agent, whose layer is read; needs `agent`. */
  session?: string;
  /** The operator and startup files as they were read before, so that they are not read again. */
  startup?: StartupFiles;
}

/** What stood in the files that nothing may change while a process runs. */
export type StartupFiles = Readonly<Record<"operator" | "base" | "local", FileRead>>;

export function readStartupFiles({ controlDir, home }: { controlDir: string; home: string }): StartupFiles {
  const read = ({ path, shown }: ConfigFile) => readTextFile(path, shown);
  const { base, local } = startupFiles(controlDir);
  return { operator: read(operatorFile(home)), base: read(base), local: read(local) };
}

/** What became of one file. */
export interface LayerFile {
  layer: Layer;
  /** Absolute. */
  path: string;
  /** As findings show it. */
  shown: string;
  /** absent: no such file; used; skipped: left out alone; refused: it stops the start. */
  state: "absent" | "used" | "skipped" | "refused";
  /** Of the bytes that were read. */
  sha256?: () => string;
}

export interface Configuration {
  /** Of all files, in the order of the layers and then of the lines. */
  findings: readonly Finding[];
  /** True when the operator and startup layers hold no error, so that a run may start. */
  usable: boolean;
  values: Values;
  layers: readonly LayerFile[];
  /** What project files set that needs the operator's trust, with what was found of it. */
  claims: readonly JudgedClaim[];
}

/**
 * Reads every configuration file and tells all that is wrong at once. The operator and startup layers are needed whole;
 * a runtime, agent or session file with an error is left out alone, with W_LAYER_SKIPPED. A file that does
 * not exist is empty.
 */
export function loadConfiguration(options: LayersOptions): Configuration {
  const missing = controlDirFinding(options.controlDir);
  if (missing) return { findings: [missing], usable: false, values: createValues(), layers: [], claims: [] };
  const { sections } = options;
  const values = createValues();
  const startup = startupFiles(options.controlDir);
  const operator = loadFile(operatorFile(options.home), sections, options.startup?.operator);
  const base = loadFile(startup.base, sections, options.startup?.base);
  const local = loadFile(startup.local, sections, options.startup?.local);
  const files = [operator, base, local];
  for (const section of sections) {
    if (section.kind === "value") {
      const outcome = loadValueSection(section, files, base, options);
      if (outcome.usable) values.set(section, outcome.value);
    } else if (section.kind === "list") {
      const own = loadListSection(section, operator, options);
      if (own?.usable) values.add(section, operator, own.value);
      const under = loadListSection(section, base, options);
      const over = loadListSection(section, local, options);
      if (under && over && under.entries > 0) {
        const message = `replaces the ${plural(under.entries)} of ${base.shown} by ${over.entries}`;
        addFinding(local, [section.key], "W_LIST_REPLACED", message, { at: "key" });
      }
      if (over?.usable) values.add(section, local, over.value);
      else if (!over && under?.usable) values.add(section, base, under.value);
    }
  }
  const layers = files.map((file) => layerFile(file, "refused"));
  const usable = !files.some(hasErrors);
  const inner = loadInnerLayers(options, values);
  return {
    findings: [...files.flatMap(sorted), ...inner.findings],
    usable,
    values,
    layers: [...layers, ...inner.layers],
    claims: [...files.flatMap((file) => file.claims), ...inner.claims],
  };
}

/**
 * Reads the layers that may change while a session lives: runtime, and agent and session where they are named. Adds
 * what is usable to `values`.
 */
export function loadInnerLayers(
  options: LayersOptions,
  values: ValuesBuilder = createValues(),
): Pick<Configuration, "findings" | "values" | "layers" | "claims"> {
  const findings: Finding[] = [];
  const claims: JudgedClaim[] = [];
  const layers: LayerFile[] = [];
  for (const spec of innerFiles(options)) {
    const file = loadFile(spec, options.sections);
    const add: (() => void)[] = [];
    for (const section of options.sections) {
      if (section.kind !== "list") continue;
      const outcome = loadListSection(section, file, options);
      if (outcome?.usable) add.push(() => values.add(section, file, outcome.value));
    }
    const errors = errorCount(file);
    findings.push(...sorted(file));
    if (errors === 0) add.forEach((run) => run());
    else findings.push(skipped(file, errors));
    layers.push(layerFile(file, "skipped"));
    claims.push(...file.claims);
  }
  return { findings, values, layers, claims };
}

/** The files that may change while a session lives. */
export function innerFiles(
  { controlDir, agent, session }: Pick<LayersOptions, "controlDir" | "agent" | "session">,
): ConfigFile[] {
  const files = runtimeFiles(controlDir);
  if (agent !== undefined) files.push(agentFile(controlDir, agent));
  if (agent !== undefined && session !== undefined) files.push(sessionFile(controlDir, agent, session));
  return files;
}

function skipped(file: LoadedFile, errors: number): Finding {
  const message = `this file of the ${file.layer} layer is left out: ${
    errors === 1 ? "1 error" : `${errors} errors`
  }`;
  return finding("W_LAYER_SKIPPED", message, { place: { file: file.shown, line: 1, column: 1 } });
}

function layerFile(file: LoadedFile, failed: "skipped" | "refused"): LayerFile {
  const { layer, path, shown, sha256 } = file;
  const state = hasErrors(file) ? failed : sha256 ? "used" : "absent";
  return { layer, path, shown, state, ...(sha256 ? { sha256 } : {}) };
}

function plural(entries: number): string {
  return entries === 1 ? "1 entry" : `${entries} entries`;
}

function sorted(file: LoadedFile): Finding[] {
  const line = (f: Finding) => f.place?.line ?? 0;
  const column = (f: Finding) => f.place?.column ?? 0;
  const shown = file.findings.toSorted((a, b) => line(a) - line(b) || column(a) - column(b));
  const { count } = file.hidden;
  if (count === 0) return shown;
  const place = { file: file.shown, line: 1, column: 1 };
  return [
    ...shown,
    finding("W_FINDINGS_HIDDEN", `${count} more findings in this file are not shown`, { place }),
  ];
}

function controlDirFinding(controlDir: string): Finding | undefined {
  const shown = escapeVisible(controlDir);
  try {
    if (statSync(controlDir).isDirectory()) return undefined;
    return finding("E_CONTROL_DIR", `${shown} is not a folder`);
  } catch {
    return finding("E_CONTROL_DIR", `${shown} does not exist or cannot be entered`);
  }
}
