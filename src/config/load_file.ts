import { statSync } from "node:fs";
import { dirname } from "node:path";
import { CATALOGUE, type ErrorCode } from "../errors/catalogue.ts";
import { type Finding, formatFinding, isError } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import { unknownKey } from "./check_value.ts";
import type { ConfigFile } from "./control_paths.ts";
import { formatPath, isMapping } from "./path.ts";
import { type FileRead, readTextFile } from "./read_file.ts";
import { notYetMessage } from "./refusal.ts";
import type { AnySection, Layer, Path } from "./section.ts";
import type { JudgedClaim } from "./trust_claim.ts";
import { parseYaml, type YamlDocument } from "./yaml_document.ts";

/** Most findings that one file yields; one more says how many were left out. Each has to be looked for in the file. */
const MOST_FINDINGS = 200;

/** A configuration file as it was read, collecting what is found wrong with it. */
export interface LoadedFile extends ConfigFile {
  /** Sections that the file holds, by key; keys without a value are left out. */
  values: Readonly<Record<string, unknown>>;
  /** Whether its text may hold `$` at all. */
  mayExpand: boolean;
  document: YamlDocument | undefined;
  /** Hash of the bytes that were read; undefined when there is no file. */
  sha256: (() => string) | undefined;
  findings: Finding[];
  /** What in it needs the operator's trust. */
  claims: JudgedClaim[];
  /** Findings beyond the bound: counted, and neither placed nor kept. */
  hidden: { count: number; errors: number };
  /** The texts of what `addFinding` has added. */
  told: Set<string>;
}

/** Reads and parses a file and judges its top-level keys. */
export function loadFile(
  file: ConfigFile,
  sections: readonly AnySection[],
  read: FileRead = readTextFile(file.path, file.shown),
): LoadedFile {
  const loaded: LoadedFile = {
    ...file,
    values: {},
    mayExpand: false,
    document: undefined,
    sha256: undefined,
    findings: [],
    claims: [],
    hidden: { count: 0, errors: 0 },
    told: new Set(),
  };
  if (read.state === "absent") return loaded;
  if (read.state === "failed") return { ...loaded, findings: [read.finding] };
  const open = file.layer === "operator" ? openToOthers(file.path) : undefined;
  if (open !== undefined) {
    const place = { file: file.shown, line: 1, column: 1 };
    const fix = "take the right to write from others: chmod o-w";
    return {
      ...loaded,
      findings: [finding("E_OPERATOR_UNSAFE", `is not believed: ${open}`, { place, fix })],
    };
  }
  loaded.sha256 = read.sha256;
  if (file.notYet !== undefined) {
    const name = file.shown.slice(file.shown.lastIndexOf("/") + 1);
    const place = { file: file.shown, line: 1, column: 1 };
    loaded.findings.push(finding("E_KEY_NOT_YET", notYetMessage(name, file.notYet), { place }));
    return loaded;
  }
  const document = parseYaml(read.text, file.shown);
  loaded.document = document;
  loaded.mayExpand = read.text.includes("$");
  loaded.findings.push(...document.findings);
  if (isMapping(document.value)) loaded.values = knownValues(loaded, document.value, sections);
  return loaded;
}

/** How every account could change the file or put another in its place; undefined where none could. */
function openToOthers(path: string): string | undefined {
  const OTHERS_WRITE = 0o002;
  const STICKY = 0o1000;
  const folder = statSync(dirname(path), { throwIfNoEntry: false })?.mode ?? 0;
  if ((folder & (OTHERS_WRITE | STICKY)) === OTHERS_WRITE) return "every account may write its folder";
  const file = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (file & OTHERS_WRITE) === 0 ? undefined : "every account may write it";
}

function knownValues(
  file: LoadedFile,
  values: Record<string, unknown>,
  sections: readonly AnySection[],
): Record<string, unknown> {
  const byKey = new Map(sections.map((section) => [section.key, section]));
  const here = sections.filter((section) => allowedIn(section, file.layer)).map((section) => section.key);
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const section = byKey.get(key);
    const rest = { at: "key", subject: "" } as const;
    if (section === undefined) {
      const { message, fix, allowed } = unknownKey([key], key, here);
      addFinding(file, [key], "E_KEY_UNKNOWN", message, { ...rest, fix, allowed });
    } else if (section.kind === "not_yet" && holds(section, file.layer)) {
      addFinding(file, [key], "E_KEY_NOT_YET", notYetMessage(key, section.part), rest);
    } else if (!allowedIn(section, file.layer)) {
      const { message, fix } = layerMessage(section, file.layer, here);
      addFinding(file, [key], "E_KEY_LAYER", message, { ...rest, fix });
    } else if (value !== null) known[key] = value;
  }
  return known;
}

/** Whether errors in this layer stop the start. */
export function startsRun(layer: Layer): boolean {
  return layer === "operator" || layer === "startup";
}

function allowedIn(section: AnySection, layer: Layer): boolean {
  return section.kind !== "not_yet" && holds(section, layer);
}

function holds(section: AnySection, layer: Layer): boolean {
  return (section.layers as readonly Layer[]).includes(layer);
}

function layerMessage(
  section: AnySection,
  layer: Layer,
  here: readonly string[],
): { message: string; fix: string } {
  const key = quote(section.key);
  if (startsRun(layer)) {
    return { message: `${key} belongs to a session`, fix: "only a session's own hooks.yaml may hold it" };
  }
  const message = `${key} may not be set in the ${layer} layer, which holds ${here.join(" and ")} only`;
  return {
    message,
    fix: section.kind === "list" ? "only a session's own hooks.yaml may hold it" : "set it in reyn.yaml",
  };
}

export interface FindingRest {
  fix?: string | undefined;
  allowed?: readonly string[] | undefined;
  at?: "value" | "key" | undefined;
  /** Defaults to the path. */
  subject?: string;
}

/** Adds a finding at a path of the file. The same finding at the same place is added once. */
export function addFinding(
  file: LoadedFile,
  path: Path,
  code: ErrorCode,
  message: string,
  rest: FindingRest = {},
): void {
  if (file.findings.length >= MOST_FINDINGS) {
    file.hidden.count += 1;
    if (CATALOGUE[code].severity === "error") file.hidden.errors += 1;
    return;
  }
  const added = findingAt(file, path, code, message, rest);
  const text = formatFinding(added);
  if (file.told.has(text)) return;
  file.told.add(text);
  file.findings.push(added);
}

export function findingAt(
  file: { document: YamlDocument | undefined; shown: string },
  path: Path,
  code: ErrorCode,
  message: string,
  { fix, allowed, at = "value", subject = formatPath(path) }: FindingRest = {},
): Finding {
  const place = file.document
    ? at === "key" ? file.document.locateKey(path) : file.document.locate(path)
    : { file: file.shown, line: 1, column: 1 };
  return finding(code, message, {
    ...(subject === "" ? {} : { subject }),
    place,
    ...(fix === undefined ? {} : { fix }),
    ...(allowed === undefined ? {} : { allowed }),
  });
}

export function errorCount(file: LoadedFile): number {
  return file.findings.filter(isError).length + file.hidden.errors;
}

export function hasErrors(file: LoadedFile): boolean {
  if (file.hidden.errors > 0) return true;
  return file.findings.some(isError);
}
