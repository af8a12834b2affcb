import { stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { listFiles } from "../lib/repo.ts";
import { type CaseRow, loadCase } from "./load.ts";

export interface Discovered {
  rows: CaseRow[];
  findings: string[];
}

/**
 * Finds and reads every `case.yaml` below the given folders, and keeps the rows whose name holds `filter`. A folder
 * that holds none is a finding: a mistyped name must not pass for success.
 */
export async function discoverCases(
  folders: readonly string[],
  filter: string,
  cwd: string,
): Promise<Discovered> {
  const files = new Set<string>();
  const findings: string[] = [];
  for (const folder of folders) {
    const root = resolve(cwd, folder);
    const isFile = await stat(root).then((found) => found.isFile(), () => false);
    const found = isFile ? [root] : (await listFiles(root, {
      keep: (path) => path === "case.yaml" || path.endsWith("/case.yaml"),
      skipFolder: (path) => path === "files" || path.endsWith("/files"),
    })).map((file) => join(root, file));
    if (found.length === 0) findings.push(`${folder}: no case.yaml there`);
    for (const file of found) files.add(file);
  }
  const rows: CaseRow[] = [];
  for (const file of [...files].sort()) {
    const loaded = await loadCase(file, relative(cwd, file));
    findings.push(...loaded.findings);
    rows.push(...loaded.rows.filter((row) => row.name.includes(filter)));
  }
  if (rows.length === 0 && findings.length === 0) findings.push(`no case has "${filter}" in its name`);
  return { rows, findings };
}
