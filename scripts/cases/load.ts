import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import {
  type Document,
  isMap as isYamlMap,
  isPair,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml";
import { checkSteps } from "./check_steps.ts";
import { type Case, caseShape } from "./format.ts";
import { BUILTINS, type Builtins, fillIn, readRows, type Row } from "./matrix.ts";
import type { Context, Path, Spot } from "./shape.ts";

/** One row of one case file: what is counted. */
export interface CaseRow {
  /** `area/name`, with `[row]` behind it when the case has a matrix. */
  name: string;
  file: string;
  folder: string;
  case: Case;
  /** The case with the runner's own values put in. */
  fill(builtins: Builtins): Case;
  /** 1-based line of a part of the case. */
  lineOf(path: Path): number;
}

export interface Loaded {
  rows: CaseRow[];
  /** `case.yaml:12:5 steps[0]: …`; a file with findings has no rows. */
  findings: string[];
}

const SILENT: Context = { report: () => undefined };

/** Reads and checks one `case.yaml`. */
export async function loadCase(file: string, shownFile: string = file): Promise<Loaded> {
  const source = await readFile(file, "utf8");
  const counter = new LineCounter();
  const document = parseDocument(source, { lineCounter: counter, version: "1.2", uniqueKeys: true });
  const findings = new Set<string>();
  for (const problem of [...document.errors, ...document.warnings]) {
    const { line, col } = counter.linePos(problem.pos[0]);
    findings.add(`${shownFile}:${line}:${col} ${problem.message.split("\n")[0] ?? ""}`);
  }
  if (findings.size > 0) return { rows: [], findings: [...findings] };

  const context: Context = {
    report(path, message, spot) {
      const { line, col } = counter.linePos(offsetOf(document, path, spot ?? "value"));
      findings.add(`${shownFile}:${line}:${col} ${showPath(path)}${message}`);
    },
  };
  const raw: unknown = document.toJS({ maxAliasCount: 100 });
  const folder = dirname(file);
  const name = `${basename(dirname(folder))}/${basename(folder)}`;
  const hasMatrix = typeof raw === "object" && raw !== null && "matrix" in raw;
  const rows: CaseRow[] = [];
  readRows(raw, context).forEach((row, index) => {
    const filled = caseShape(fillIn(raw, row, placeholders(folder), context), [], context);
    if (findings.size > 0) return;
    checkSteps(filled, context);
    rows.push({
      name: hasMatrix ? `${name}[${labelOf(row, index)}]` : name,
      file: shownFile,
      folder,
      case: filled,
      fill: (builtins) => caseShape(fillIn(raw, row, builtins, SILENT), [], SILENT),
      lineOf: (path) => counter.linePos(offsetOf(document, path, "value")).line,
    });
  });
  const labels = rows.map((row) => row.name);
  if (new Set(labels).size < labels.length) context.report(["matrix"], "two rows have the same name");
  return findings.size > 0 ? { rows: [], findings: [...findings] } : { rows, findings: [] };
}

function placeholders(folder: string): Builtins {
  const values = Object.fromEntries(BUILTINS.map((name) => [name, `/${name.toLowerCase()}`]));
  return { CONTROL: "", HOME: "", TEMP: "", REYN: "", ...values, CASE: folder, PORT: "1" };
}

function labelOf(row: Row, index: number): string {
  return typeof row["name"] === "string" || typeof row["name"] === "number"
    ? String(row["name"])
    : String(index + 1);
}

function showPath(path: Path): string {
  const shown = path.reduce<string>(
    (text, part) => typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`,
    "",
  );
  return shown === "" ? "" : `${shown}: `;
}

/** The place of the deepest part of the path that the file has. */
function offsetOf(document: Document.Parsed, path: Path, spot: Spot): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  path.forEach((part, index) => {
    if (isYamlMap(node)) {
      const pair = node.items.find((item) => isPair(item) && keyText(item.key) === String(part));
      if (pair) {
        const useKey = spot === "key" && index === path.length - 1;
        offset = startOf(useKey ? pair.key : pair.value) ?? startOf(pair.key) ?? offset;
      }
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else node = undefined;
  });
  return offset ?? 0;
}

function keyText(key: unknown): string {
  return typeof key === "object" && key !== null && "value" in key ? String(key.value) : String(key);
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
