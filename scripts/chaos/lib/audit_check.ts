import { Buffer } from "node:buffer";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";

export interface AuditCheck {
  files: number;
  lines: number;
  /** Files with a cut or zero-filled end. */
  torn: number;
  violations: string[];
}

/** Every line of every file is whole, but for the end of a file whose process was killed. */
export async function checkAudit(eventsDir: string): Promise<AuditCheck> {
  const names = (await readdir(eventsDir).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
  const result: AuditCheck = { files: names.length, lines: 0, torn: 0, violations: [] };
  const ids = new Set<string>();
  for (const name of names) {
    const bytes = await readFile(join(eventsDir, name));
    const end = bytes.lastIndexOf(10) + 1;
    if (end < bytes.length) result.torn += 1;
    for (const line of bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1)) {
      result.lines += 1;
      const problem = problemOf(line, ids);
      if (problem) result.violations.push(`${name}: ${problem}: ${line.slice(0, 160)}`);
    }
  }
  return result;
}

function problemOf(line: string, ids: Set<string>): string | undefined {
  const sum = /,"crc":"([0-9a-f]{8})"\}$/.exec(line);
  if (!sum) return "a line without a checksum";
  const own = crc32(Buffer.from(`${line.slice(0, -18)}}`)).toString(16).padStart(8, "0");
  if (own !== sum[1]) return `checksum ${sum[1]}, it should be ${own}`;
  const { id } = JSON.parse(line) as { id: string };
  if (ids.has(id)) return `event ${id} is written twice`;
  ids.add(id);
  return undefined;
}
