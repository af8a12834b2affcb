import { mkdtempSync, rmSync } from "node:fs";
import { open, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Audit } from "../../src/audit/audit.ts";
import { readAudit } from "../../src/audit/reader.ts";
import { openAudit } from "../../src/audit/writer.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import type { BenchRow } from "./measure.ts";

const EVENTS = 50_000;
const BATCH = 1000;
const ROUNDS = 5;

function emitAll(audit: Audit): void {
  for (let seq = 0; seq < EVENTS; seq += 1) {
    audit.emit("turn_settled", "default/main", { kind: "human", chain_id: null, seq });
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** The same bytes, written and synced in as many pieces, with nothing else done. */
async function writeBare(dir: string, content: Uint8Array): Promise<number> {
  const handle = await open(join(dir, "bare"), "a");
  const pieces = EVENTS / BATCH;
  const length = Math.ceil(content.length / pieces);
  const start = performance.now();
  for (let piece = 0; piece < pieces; piece += 1) {
    await handle.write(content.subarray(piece * length, (piece + 1) * length));
    await handle.datasync();
  }
  const seconds = (performance.now() - start) / 1000;
  await handle.close();
  return EVENTS / seconds;
}

/** What an event costs the caller, and how many a second reach the disk and come back. */
export async function rows(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), "reyn-audit-bench-"));
  const figures = { emit: [] as number[], push: [] as number[], flush: [] as number[], bare: [] as number[] };
  const read: number[] = [];
  const parse: number[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      const dir = join(root, `${round}`);
      const audit = openAudit({ dir, clock: systemClock, ids: randomIds(), pid: 1, maxBatch: BATCH });
      const started = performance.now();
      emitAll(audit);
      const emitted = performance.now();
      await audit.flush();
      const flushed = performance.now();
      await audit.close();

      const queue: unknown[] = [];
      const pushing = performance.now();
      for (let seq = 0; seq < EVENTS; seq += 1) {
        queue.push({ at: Date.now(), data: { kind: "human", chain_id: null, seq } });
      }
      const pushed = performance.now();

      const [name = ""] = await readdir(dir);
      const content = await readFile(join(dir, name));
      const bare = await writeBare(dir, content);

      const reading = performance.now();
      let count = 0;
      for await (const _ of readAudit({ dir, clock: systemClock })) count += 1;
      const readDone = performance.now();
      const text = (await readFile(join(dir, name))).toString("utf8");
      for (const line of text.split("\n")) if (line !== "") queue.push(JSON.parse(line));
      const parsed = performance.now();
      if (count !== EVENTS) throw new Error(`${count} of ${EVENTS} events came back`);

      rmSync(dir, { recursive: true });
      // The first round warms up.
      if (round === 0) continue;
      figures.emit.push((emitted - started) * 1000 / EVENTS);
      figures.push.push((pushed - pushing) * 1000 / EVENTS);
      figures.flush.push(EVENTS * 1000 / (flushed - emitted));
      figures.bare.push(bare);
      read.push(EVENTS * 1000 / (readDone - reading));
      parse.push(EVENTS * 1000 / (parsed - readDone));
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return [
    { name: "audit: emit", unit: "us", value: median(figures.emit), floor: median(figures.push) },
    {
      name: "audit: events flushed, 1000 a sync",
      unit: "1/s",
      value: median(figures.flush),
      floor: median(figures.bare),
    },
    { name: "audit: events read back and checked", unit: "1/s", value: median(read), floor: median(parse) },
  ];
}
