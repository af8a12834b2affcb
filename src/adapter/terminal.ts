import { readFileSync } from "node:fs";
import { isatty } from "node:tty";

export type Stream = "stdin" | "stdout" | "stderr";

const DESCRIPTORS: Record<Stream, number> = { stdin: 0, stdout: 1, stderr: 2 };

export function isTerminal(stream: Stream): boolean {
  return isatty(DESCRIPTORS[stream]);
}

/**
 * Whether this process may read from its terminal: a job in the background would be stopped for it. True where nothing
 * tells.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // Behind the name, which may hold anything: state, parent, process group, session, terminal, its foreground group.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === undefined || foreground === undefined || group === foreground;
  } catch {
    return true;
  }
}
