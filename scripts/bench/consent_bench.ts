import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock/clock.ts";
import { openAllowlist } from "../../src/consent/allowlist.ts";
import { decideConsent } from "../../src/consent/consent.ts";
import { consentKeys, type ConsentRequest } from "../../src/consent/consent_key.ts";
import { compileGlob } from "../../src/match/mod.ts";
import type { BenchRow } from "../lib/bench_table.ts";

const CHECKS = 4000;
const ROUNDS = 7;
const MOST_CHECK_US = 50;
/** A file that changed a moment ago is read each time. */
const SETTLED_MS = 2_200;
const BINARY_BYTES = 100 * 1024 * 1024;
const MOST_DELAY_MS = 20;

/** What consent costs at each run of an approved hook, and what a large binary does to everything else when it changed. */
export async function rows(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "reyn-consent-bench-"));
  try {
    return [await checkRow(root), ...await binaryRows(root)];
  } finally {
    rmSync(root, { recursive: true });
  }
}

function request(cwd: string, argv: readonly string[]): ConsentRequest {
  return {
    argv,
    cwd,
    grants: { subprocess: false, network: false, writePaths: [] },
    envNames: [],
    backend: "landlock",
    consentFiles: [],
  };
}

async function checkRow(root: string): Promise<BenchRow> {
  const script = join(root, "hook.sh");
  writeFileSync(script, "#!/bin/sh\n");
  const keys = consentKeys({ compileGlob });
  const path = join(root, "allowlist.json");
  const allowlist = openAllowlist({ path, clock: systemClock });
  const asked = request(root, [script, "--fix"]);
  const computed = await keys.compute(asked);
  if (!computed.ok) throw new Error(computed.reason);
  const stored = await allowlist.add(computed.key, "bench");
  if (stored.status !== "stored") throw new Error(stored.reason);
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const check = async () => {
    const decision = await decideConsent({
      key: () => keys.compute(asked),
      hookName: "bench",
      allowlist,
      env: {},
    });
    if (!decision.allowed || decision.by !== "allowlist") throw new Error("it is not approved");
  };
  const stats = async () => {
    statSync(script, { bigint: true });
    statSync(path, { bigint: true });
  };
  return {
    name: "consent: check of an approved hook, hash cached",
    unit: "us",
    value: await median(check),
    floor: await median(stats),
    floorName: "stat of its file and the allowlist",
    goal: { atMost: MOST_CHECK_US },
  };
}

async function median(run: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    for (let n = 0; n < CHECKS; n++) await run();
    times.push(((performance.now() - from) * 1000) / CHECKS);
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
}

async function binaryRows(root: string): Promise<BenchRow[]> {
  const binary = join(root, "binary");
  writeFileSync(binary, Buffer.alloc(BINARY_BYTES, 1));
  const keys = consentKeys({ compileGlob });
  const delays = watchDelays();
  const from = performance.now();
  const computed = await keys.compute(request(root, [binary]));
  const took = performance.now() - from;
  const longest = delays.stop();
  if (!computed.ok) throw new Error(computed.reason);
  const before = performance.now();
  const digest = createHash("sha256").update(readFileSync(binary)).digest("hex");
  const blocked = performance.now() - before;
  if (computed.key.files[binary] !== digest) throw new Error("the hash is wrong");
  return [
    {
      name: "consent: longest delay of other work while 100 MiB are hashed",
      unit: "ms",
      value: longest,
      floor: blocked,
      floorName: "read and hashed at once",
      goal: { atMost: MOST_DELAY_MS },
    },
    {
      name: "consent: a changed binary of 100 MiB",
      unit: "ms",
      value: took,
      floor: blocked,
      floorName: "read and hashed at once",
    },
  ];
}

/** The longest time between two turns of the event loop. */
function watchDelays(): { stop(): number } {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return longest;
    },
  };
}
