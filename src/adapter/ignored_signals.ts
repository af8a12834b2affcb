import { readFileSync } from "node:fs";

/** Numbers of the signals that whoever started this process has it ignore, as `nohup` does. Empty where nothing tells. */
export function ignoredSignals(): ReadonlySet<number> {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    const bits = BigInt(`0x${mask ?? "0"}`);
    return new Set(Array.from({ length: 64 }, (_, n) => n + 1).filter((n) => (bits >> BigInt(n - 1)) & 1n));
  } catch {
    return new Set();
  }
}
