import { checkValue } from "../config/check_value.ts";
import { isMapping } from "../config/path.ts";
import { readTextFile } from "../config/read_file.ts";
import { notYetMessage } from "../config/refusal.ts";
import { show } from "../config/scalars.ts";
import { didYouMean } from "../config/suggest.ts";
import { parseYaml, type YamlDocument } from "../config/yaml_document.ts";
import { type Finding, isError } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import type { DeclaredHook, ReadDeclaration } from "./declaration.ts";
import { chainTimeout } from "./entry_schema.ts";
import { readEntry, type Report } from "./read_entry.ts";

/** Keys of the delivery loop: known, and refused until it is there. */
const DELIVERY_KEYS = [
  "version",
  "instance",
  "state",
  "webhooks",
  "polling",
  "service",
  "routing",
  "repositories",
  "harnesses",
  "models",
  "effort",
  "critics",
  "graphs",
  "env",
  "notifications",
  "channels",
  "collaborators",
  "standingSessions",
  "integrations",
  "selfDiagnosis",
  "eventLog",
];
const KEYS = ["hooks", "chainTimeoutSeconds"];

export interface DeclarationPlaces {
  /** As findings show the file. */
  shown: string;
  /** Absolute folder of the file, links resolved: what relative paths are relative to. */
  folder: string;
  home: string;
}

/** Reads the declaration of a file: everything that is wrong with it, or what it declares. Nothing is imported or contacted. */
export function readDeclaration(path: string, places: DeclarationPlaces): ReadDeclaration {
  const read = readTextFile(path, places.shown);
  if (read.state === "text") return parseDeclaration(read.text, places);
  const place = { file: places.shown, line: 1, column: 1 };
  const absent = finding("E_FILE_UNREADABLE", "there is no such file", { place });
  return { ok: false, findings: [read.state === "failed" ? read.finding : absent] };
}

/** As `readDeclaration`, from text. */
export function parseDeclaration(text: string, places: DeclarationPlaces): ReadDeclaration {
  const document = parseYaml(text, places.shown);
  const names = namesOf(document.value);
  const findings: Finding[] = document.findings.map((one) => withName(one, names));
  if (!isMapping(document.value)) return { ok: false, findings };
  const report = reporter(document, findings, names);
  const { hooks: list, chainTimeoutSeconds, ...others } = document.value;
  for (const key of Object.keys(others)) refuseKey(key, report);

  const bound = checkValue(chainTimeout, chainTimeoutSeconds);
  if (!bound.ok) {
    for (const { code, message } of bound.issues) report(["chainTimeoutSeconds"], code, message);
  }
  const hooks: DeclaredHook[] = [];
  if (Array.isArray(list)) {
    list.forEach((entry: unknown, index) => {
      const place = document.locate(["hooks", index]);
      const hook = readEntry(entry, index, { ...places, place, report });
      if (hook) hooks.push(hook);
    });
    refuseRepeated(list, document, report);
  } else if (list !== undefined && list !== null) {
    report(["hooks"], "E_CONFIG_TYPE", `must be a list, got ${show(list)}`);
  }
  if (findings.some(isError)) return { ok: false, findings: findings.toSorted(byPlace) };
  const limit = bound.ok ? bound.value : undefined;
  return { ok: true, declaration: { hooks, chainTimeoutMs: limit === undefined ? Infinity : limit * 1000 } };
}

function refuseKey(key: string, report: Report): void {
  if (DELIVERY_KEYS.includes(key)) {
    report([key], "E_KEY_NOT_YET", notYetMessage(key, "delivery"), { at: "key" });
  } else {
    const rest = { fix: didYouMean(key, KEYS), allowed: KEYS, at: "key" } as const;
    report([key], "E_KEY_UNKNOWN", `unknown key ${quote(key)}`, rest);
  }
}

function refuseRepeated(list: readonly unknown[], document: YamlDocument, report: Report): void {
  const first = new Map<string, number>();
  list.forEach((entry, index) => {
    const name = isMapping(entry) ? entry["name"] : undefined;
    if (typeof name !== "string") return;
    const before = first.get(name);
    if (before === undefined) return first.set(name, index);
    const { line } = document.locate(["hooks", before, "name"]);
    report(
      ["hooks", index, "name"],
      "E_HOOK_NAME",
      `${quote(name)} is taken by hooks[${before}] in line ${line}`,
    );
  });
}

/** The names of the entries, as far as they have one. */
function namesOf(value: unknown): readonly (string | undefined)[] {
  const list = isMapping(value) ? value["hooks"] : undefined;
  if (!Array.isArray(list)) return [];
  return list.map((entry: unknown) =>
    isMapping(entry) && typeof entry["name"] === "string" ? entry["name"] : undefined
  );
}

/** `hooks[1].on` becomes `hooks[1] "audit".on`, so that each finding names its entry. */
function withName(one: Finding, names: readonly (string | undefined)[]): Finding {
  const [whole = "", index = ""] = /^hooks\[(\d+)\]/.exec(one.subject ?? "") ?? [];
  const name = whole === "" ? undefined : names[Number(index)];
  return name === undefined
    ? one
    : { ...one, subject: `${whole} ${quote(name)}${one.subject?.slice(whole.length)}` };
}

function reporter(
  document: YamlDocument,
  findings: Finding[],
  names: readonly (string | undefined)[],
): Report {
  return (path, code, message, { fix, allowed, at } = {}) => {
    const place = at === "key" ? document.locateKey(path) : document.locate(path);
    const [top, index, ...below] = at === "key" ? path.slice(0, -1) : path;
    const inner = below.map((key) => typeof key === "number" ? `[${key}]` : `.${key}`).join("");
    const subject = top === undefined
      ? undefined
      : index === undefined
      ? String(top)
      : `${top}[${index}]${inner}`;
    const rest = {
      place,
      ...(subject === undefined ? {} : { subject }),
      ...(fix === undefined ? {} : { fix }),
      ...(allowed === undefined ? {} : { allowed }),
    };
    findings.push(withName(finding(code, message, rest), names));
  };
}

function byPlace(a: Finding, b: Finding): number {
  return (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0);
}
