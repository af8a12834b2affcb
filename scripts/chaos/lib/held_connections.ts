import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { REPO } from "../../lib/repo.ts";
import { pause } from "./process.ts";
import { TOKEN } from "./server_world.ts";
import type { UnderFault } from "./server_unwritable.ts";

/** What a good request may take beside them, in milliseconds, and what it takes at most where that can be asked for at all. */
const MOST_MS = 100;
const CALM_MS = 50;
/** What a request has time for, and what it takes to look. */
const LET_GO_MS = 45_000;

/** What `good_requests.ts` found. */
interface Times {
  requests: number;
  wrong: string[];
  median: number;
  p99: number;
  max: number;
}

interface Held {
  open: number;
  left: number;
  wrong: string[];
  refused: number;
}

/**
 * A thousand who say nothing, two hundred who send heads and bodies byte by byte, and one who sends what is wrong in every way
 * hold up nobody, and are let go of in time. They and those who measure are processes of their own.
 */
export async function besideHeldConnections({ campaign }: UnderFault): Promise<string[]> {
  const { port } = campaign.world;
  const measure = () => child<Times>("good_requests.ts", [String(port), TOKEN, "300"]).result;
  const alone = await measure();
  const holder = child<Held>("hold_connections.ts", [String(port), TOKEN, "1000", "200", String(LET_GO_MS)]);
  await holder.ready;
  await pause(500);
  const beside = await measure();
  const held = await holder.result;
  for (const one of [...alone.wrong, ...beside.wrong, ...held.wrong]) campaign.violated(one);
  if (held.left > 0) campaign.violated(`${held.left} connections are held for good`);
  if (beside.p99 > MOST_MS && alone.p99 < CALM_MS) {
    campaign.violated(`good requests took ${beside.p99.toFixed(1)} ms (p99) beside held connections`);
  }
  const told = ({ requests, median, p99, max }: Times) =>
    `${median.toFixed(1)} ms median, ${p99.toFixed(1)} p99, ${max.toFixed(1)} max of ${requests}`;
  return [
    `${held.open} open at first, all let go of in time; ${held.refused} wrong requests each got their status`,
    `good requests alone: ${told(alone)}; beside them: ${told(beside)}`,
  ];
}

/** Runs a script of this folder; it says a line when it is ready, and its result as JSON in its last line. */
function child<T>(script: string, args: readonly string[]): { ready: Promise<void>; result: Promise<T> } {
  const path = join(REPO, "scripts", "chaos", "lib", script);
  const words = "Bun" in globalThis ? [path] : ["run", "--allow-all", "--no-check", "--cached-only", path];
  const started = spawn(process.execPath, [...words, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  let told = () => {};
  const ready = new Promise<void>((resolve) => told = resolve);
  started.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    told();
  });
  const result = new Promise<T>((resolve, reject) => {
    started.on("close", (code) => {
      told();
      try {
        resolve(JSON.parse(text.trimEnd().split("\n").at(-1) ?? "") as T);
      } catch {
        reject(new Error(`${script} ended with ${code}: ${text.slice(-300)}`));
      }
    });
  });
  return { ready, result };
}
