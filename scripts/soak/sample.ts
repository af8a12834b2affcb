import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** How a process and what belongs to it stood at one moment. Sizes in MiB. */
export interface Sample {
  /** Seconds since the load began. */
  at: number;
  rss: number;
  descriptors: number;
  children: number;
  /** Children that have ended and were not collected. */
  zombies: readonly number[];
  threads: number;
  /** Processor seconds so far, without those of children. */
  cpu: number;
  database: number;
  log: number;
}

const MIB = 1024 * 1024;
/** Of /proc, on every architecture that Linux is built for today. */
const TICKS_A_SECOND = 100;

/** Reads /proc, so it works on Linux only. */
export async function takeSample(pid: number, reynDir: string, at: number): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const number = (key: string) =>
    Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
  const family = await childrenOf(pid);
  return {
    at,
    rss: number("VmRSS") / 1024,
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    children: family.length,
    zombies: family.filter(({ state }) => state === "Z").map((child) => child.pid),
    threads: number("Threads"),
    cpu: await cpuOf(pid),
    database: await sizeOf(join(reynDir, "state")),
    log: await sizeOf(join(reynDir, "events")),
  };
}

async function childrenOf(pid: number): Promise<{ pid: number; state: string }[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(names.map(async (name) => {
    const text = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
    const [state = "", parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(parent) === pid ? [{ pid: Number(name), state }] : [];
  }));
  return found.flat();
}

async function cpuOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

async function sizeOf(dir: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir).catch(() => [])) {
    bytes += (await stat(join(dir, name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes / MIB;
}

/** Least squares: by how much `y` grows in a minute. */
export function slopeAMinute(samples: readonly Sample[], y: (sample: Sample) => number): number {
  const count = samples.length;
  const meanX = samples.reduce((sum, { at }) => sum + at, 0) / count;
  const meanY = samples.reduce((sum, sample) => sum + y(sample), 0) / count;
  let over = 0;
  let under = 0;
  for (const sample of samples) {
    over += (sample.at - meanX) * (y(sample) - meanY);
    under += (sample.at - meanX) ** 2;
  }
  return under === 0 ? 0 : over / under * 60;
}
