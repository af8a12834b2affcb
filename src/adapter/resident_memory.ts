import { readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** Memory that a process holds right now, in bytes; undefined where the system does not tell. */
export function residentMemory(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return Number.isFinite(pages) ? pages * PAGE_BYTES : undefined;
  } catch {
    return undefined;
  }
}
