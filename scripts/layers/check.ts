import { readFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { listFiles } from "../lib/repo.ts";
import { findCycles, wayRound } from "./cycles.ts";
import { findImports } from "./imports.ts";
import { ADAPTER, LONGEST_FILE, refusal, roomOf } from "./table.ts";
import { tokenize } from "./tokens.ts";

export interface LayerFinding {
  file: string;
  /** 1-based; 1 for what concerns the whole file. */
  line: number;
  message: string;
}

const RUNTIME_NAMES = new Set(["Deno", "Bun"]);
const BLOCKING_CALLS = new Set(["spawnSync", "execSync", "execFileSync"]);
const SNAKE_CASE = /^[a-z0-9]+(_[a-z0-9]+)*(\.d)?\.ts$/;

/** Checks the arrows between rooms, and what else holds for every source file, of the repository at `root`. */
export async function checkLayers(root: string): Promise<{ findings: LayerFinding[]; files: number }> {
  const files = await sourceFiles(root);
  const findings: LayerFinding[] = [];
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const source = await readFile(join(root, file), "utf8");
    checkShape(file, source, findings);
    const tokens = tokenize(source);
    for (const token of file.startsWith(ADAPTER) || file.startsWith("test/adapter/") ? [] : tokens) {
      if (token.kind !== "word") continue;
      if (RUNTIME_NAMES.has(token.text)) {
        findings.push({ file, line: token.line, message: `${token.text} is named outside ${ADAPTER}` });
      }
    }
    for (const token of tokens) {
      if (token.kind === "word" && BLOCKING_CALLS.has(token.text)) {
        findings.push({
          file,
          line: token.line,
          message: `${token.text} leaks the environment and blocks; use spawn`,
        });
      }
    }
    const targets = new Set<string>();
    graph.set(file, targets);
    for (const { specifier, line } of findImports(tokens)) {
      const target = checkSpecifier(file, specifier, (message) => findings.push({ file, line, message }));
      if (target === undefined) continue;
      targets.add(target);
      const from = roomOf(file);
      const to = roomOf(target);
      if (from === undefined) continue;
      const message = to === undefined ? `${target} is not part of the program` : refusal(from, to);
      if (message) findings.push({ file, line, message: `imports ${target}: ${message}` });
    }
  }
  findings.push(...cycleFindings(graph));
  findings.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  return { findings, files: files.length };
}

async function sourceFiles(root: string): Promise<string[]> {
  const files = await listFiles(root, {
    keep: (path) => path.endsWith(".ts") && (path.includes("/") || path === "mod.ts" || path === "sdk.ts"),
    skipFolder: (path) => !/^(src|test|scripts)(\/|$)/.test(path) || path === "test/cases",
  });
  return files;
}

function checkShape(file: string, source: string, findings: LayerFinding[]): void {
  const lines = source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
  if (lines > LONGEST_FILE) {
    findings.push({ file, line: 1, message: `has ${lines} lines, more than ${LONGEST_FILE}: split it` });
  }
  if (!SNAKE_CASE.test(posix.basename(file))) {
    findings.push({ file, line: 1, message: "its name is not snake_case" });
  }
}

/** The file of the repository that a specifier names, if it names one. */
function checkSpecifier(
  file: string,
  specifier: string,
  report: (message: string) => void,
): string | undefined {
  if (/^(bun|deno)(:|$)/.test(specifier)) {
    if (!file.startsWith(ADAPTER)) report(`imports ${specifier} outside ${ADAPTER}`);
    return undefined;
  }
  if (/^(npm|jsr|https?|data|file):/.test(specifier)) {
    report(`imports ${specifier}: dependencies are listed in package.json and imported by bare name`);
    return undefined;
  }
  if (specifier.startsWith("/")) report(`imports ${specifier}: an absolute path`);
  if (!specifier.startsWith(".")) return undefined;
  if (!/\.(ts|json)$/.test(specifier)) report(`imports ${specifier}: the extension is missing`);
  const target = posix.normalize(posix.join(dirname(file), specifier));
  return target.endsWith(".ts") ? target : undefined;
}

function cycleFindings(files: ReadonlyMap<string, ReadonlySet<string>>): LayerFinding[] {
  const rooms = new Map<string, Set<string>>();
  for (const [file, targets] of files) {
    const from = roomOf(file);
    if (from === undefined) continue;
    const reached = rooms.get(from) ?? new Set<string>();
    rooms.set(from, reached);
    for (const target of targets) {
      const to = roomOf(target);
      if (to !== undefined && to !== from) reached.add(to);
    }
  }
  const say = (graph: ReadonlyMap<string, ReadonlySet<string>>, what: string) =>
    findCycles(graph).map((group) => {
      const way = wayRound(graph, group).join(" -> ");
      return { file: group[0] ?? "", line: 1, message: `${what} import each other: ${way}` };
    });
  return [...say(files, "files"), ...say(rooms, "rooms")];
}
