import { openAudit } from "../../src/audit/writer.ts";
import type { Audit } from "../../src/audit/audit.ts";
import { createBus } from "../../src/bus/bus.ts";
import { type BusEvent, busEvent } from "../../src/bus/event.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { createTimerQueue } from "../../src/clock/timer_queue.ts";
import type { Composer, ComposerInput, ComposerOp } from "../../src/composers/composer.ts";
import { createEngine } from "../../src/composers/engine.ts";
import { openPendingFile } from "../../src/composers/pending_store.ts";
import type { BenchRow } from "../lib/bench_table.ts";
import { mkdtemp, open, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SILENT: Audit = { emit: () => {}, flush: () => Promise.resolve(), close: () => Promise.resolve() };
const BATCHES = 15;
const WARM_UP = 5;

/** Nanoseconds of one event: the median over batches of `publish`, which is given a batch of events. */
async function medianNanos(count: number, batch: () => void | Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < BATCHES + WARM_UP; at++) {
    const start = performance.now();
    await batch();
    if (at >= WARM_UP) times.push(((performance.now() - start) * 1e6) / count);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1] ?? 0;
}

function newBus() {
  return createBus({
    clock: systemClock,
    onDropped: () => {},
    onError: (_, error) => {
      throw error;
    },
  });
}

function event(kind: string, payload: Record<string, unknown>): BusEvent {
  return busEvent({ id: `e-${kind}`, kind, payload, chainId: null, at: systemClock.now() });
}

/** Microseconds of one publish, without and with its delivery. */
async function publishing(subscribers: number): Promise<{ publish: number; delivered: number }> {
  const bus = newBus();
  let seen = 0;
  for (let at = 0; at < subscribers; at++) {
    bus.subscribe({ name: `s${at}`, kinds: ["mcp:a:b"], limit: 1024, handle: () => void (seen += 1) });
  }
  const one = event("mcp:a:b", { id: 1 });
  const rounds = 100;
  const burst = 1000;
  let publishTime = 0;
  const publishTimes: number[] = [];
  const delivered = await medianNanos(rounds * burst, async () => {
    publishTime = 0;
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      for (let at = 0; at < burst; at++) bus.publish(one);
      publishTime += performance.now() - start;
      await bus.drained();
    }
    publishTimes.push((publishTime * 1000) / (rounds * burst));
  });
  if (seen !== subscribers * rounds * burst * (BATCHES + WARM_UP)) {
    throw new Error(`${seen} events delivered`);
  }
  publishTimes.sort((a, b) => a - b);
  return { publish: publishTimes[publishTimes.length >> 1] ?? 0, delivered: delivered / 1000 };
}

function input(kind: string): ComposerInput {
  return { kind, matcher: null, match: {}, as: null };
}

function composer(op: ComposerOp, kinds: string[], more: Partial<Composer> = {}): Composer {
  return {
    name: op,
    op,
    layer: "startup",
    index: 0,
    inputs: kinds.map(input),
    until: null,
    unless: [],
    emit: `composed:${op}`,
    ttlMs: 300_000,
    capacity: 2000,
    overflow: "drop_oldest",
    maxEventsPerKey: 1000,
    maxBytes: 16 * 1024 ** 2,
    correlateBy: null,
    count: null,
    maxWaitMs: null,
    rateLimit: null,
    durable: false,
    ...more,
  };
}

/** Events a second through the bus and a composer, `fires` of which fire in a batch. */
async function throughput(
  made: Composer,
  batch: readonly BusEvent[],
  fires: number,
  audit = SILENT,
): Promise<number> {
  const timers = createTimerQueue(systemClock, (error) => console.error(error));
  let composed = 0;
  const nanos = await medianNanos(batch.length, async () => {
    const bus = newBus();
    createEngine([made], { session: "default/main", bus, timers, audit, store: null }).start();
    bus.subscribe({
      name: "consumer",
      kinds: ["composed:*"],
      limit: Infinity,
      handle: () => void (composed += 1),
    });
    for (let at = 0; at < batch.length; at++) {
      bus.publish(batch[at] as BusEvent);
      if (at % 1000 === 999) await bus.drained();
    }
    await bus.drained();
    if (audit !== SILENT) await audit.flush();
  });
  if (composed !== fires * (BATCHES + WARM_UP)) throw new Error(`${made.name}: ${composed} fires`);
  timers.close();
  return 1e9 / nanos;
}

/** Microseconds from an event to the moment at which the consumer has its composed event. */
async function latency(): Promise<number> {
  const timers = createTimerQueue(systemClock, (error) => console.error(error));
  const bus = newBus();
  const made = composer("any", ["mcp:a:b"]);
  const engine = createEngine([made], { session: "default/main", bus, timers, audit: SILENT, store: null });
  engine.start();
  let arrived = () => {};
  bus.subscribe({ name: "consumer", kinds: ["composed:*"], limit: Infinity, handle: () => arrived() });
  const rounds = 5000;
  const nanos = await medianNanos(rounds, async () => {
    for (let at = 0; at < rounds; at++) {
      const done = new Promise<void>((resolve) => arrived = resolve);
      bus.publish(event("mcp:a:b", { id: at }));
      await done;
    }
  });
  await engine.stop();
  timers.close();
  return nanos / 1000;
}

/** Arms a second, 256 at a time with 1000 armed already, each saved before it counts; and what the bare rewrite allows. */
async function durableArms(dir: string): Promise<{ arms: number; floor: number }> {
  const path = join(dir, "composer_pending.json");
  const timers = createTimerQueue(systemClock, (error) => console.error(error));
  const bus = newBus();
  const store = openPendingFile({ path, found: [], ioClock: systemClock, onFailure: console.error });
  const made = composer("deadline", ["mcp:a:b"], {
    until: input("mcp:a:c"),
    correlateBy: "r",
    ttlMs: 3_600_000,
    durable: true,
  });
  const engine = createEngine([made], { session: "default/main", bus, timers, audit: SILENT, store });
  engine.start();
  const publishAll = async (kind: string, keys: readonly string[]) => {
    for (const r of keys) bus.publish(event(kind, { r }));
    await engine.settled();
  };
  await publishAll("mcp:a:b", Array.from({ length: 1000 }, (_, n) => `armed-${n}`));
  const burst = Array.from({ length: 256 }, (_, n) => `burst-${n}`);
  const times: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < 25; round++) {
    const start = performance.now();
    await publishAll("mcp:a:b", burst);
    times.push(performance.now() - start);
    const text = await readFile(path);
    const bare = performance.now();
    await writeSynced(`${path}.bare`, text);
    floors.push(performance.now() - bare);
    await publishAll("mcp:a:c", burst);
  }
  await engine.stop();
  await store.close();
  timers.close();
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0;
  return { arms: (256 * 1000) / median(times), floor: (256 * 1000) / median(floors) };
}

async function writeSynced(path: string, text: Uint8Array): Promise<void> {
  const file = await open(`${path}.new`, "w");
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
}

/** The most, of a few tries, by which a deadline is late while a task publishes a million events that it has no part in. */
async function lateness(): Promise<number> {
  let worst = 0;
  for (let round = 0; round < 5; round++) {
    const timers = createTimerQueue(systemClock, (error) => console.error(error));
    const bus = newBus();
    const made = composer("deadline", ["mcp:a:b"], { until: input("mcp:a:c"), ttlMs: 20 });
    createEngine([made], { session: "default/main", bus, timers, audit: SILENT, store: null }).start();
    // A full session: somebody wants those events.
    bus.subscribe({ name: "other", kinds: ["mcp:a:x"], limit: 128, handle: () => {} });
    let late = -1;
    bus.subscribe({
      name: "consumer",
      kinds: ["composed:*"],
      limit: Infinity,
      handle: ({ payload }) => void (late = systemClock.now() - (Number(payload["armed_at"]) * 1000 + 20)),
    });
    bus.publish(event("mcp:a:b", {}));
    const unrelated = event("mcp:a:x", { id: 1 });
    for (let at = 0; at < 1_000_000; at++) {
      bus.publish(unrelated);
      await bus.pace();
    }
    while (late < 0) await new Promise((resolve) => setTimeout(resolve, 1));
    worst = Math.max(worst, late);
    timers.close();
  }
  return worst;
}

/** What the bus and composers cost, beside a publish that nobody wants. */
export async function rows(): Promise<BenchRow[]> {
  const none = await publishing(0);
  const one = await publishing(1);
  const ten = await publishing(10);
  const floor = none.publish;
  const emptyRate = 1e6 / one.delivered;
  const a = event("mcp:a:b", { id: 1 });
  const b = event("mcp:a:c", { id: 2 });
  const other = event("mcp:a:b", { id: 3, server: "other" });
  const batchOf = (thousand: BusEvent[]) => Array.from({ length: 100 }, () => thousand).flat();
  const lastIs = (last: BusEvent) => batchOf([...new Array<BusEvent>(999).fill(a), last]);
  const matcher = {
    fields: ["server"],
    failing: (payload: Readonly<Record<string, unknown>>) => payload["server"] === "other" ? -1 : 0,
    failedField: () => null,
    patterns: {},
  };
  const rate = (name: string, value: number, goal: number, withFloor = true): BenchRow => ({
    name,
    unit: "events/s",
    value,
    ...(withFloor ? { floor: emptyRate, floorName: "publish to 1, empty handler" } : {}),
    goal: { atLeast: goal },
  });
  const anyRare = composer("any", ["mcp:a:b"], { inputs: [{ ...input("mcp:a:b"), matcher }] });
  const keyed = Array.from({ length: 1000 }, (_, n) => event("mcp:a:b", { r: `k${n}` }));
  const closing = event("mcp:a:c", { r: "k7" });
  const keyedBatch = Array.from({ length: 100 }, () => [...keyed.slice(0, 999), closing]).flat();
  const result: BenchRow[] = [
    { name: "bus: publish, nobody wants it", unit: "us", value: floor },
    { name: "bus: publish to 1", unit: "us", value: one.publish, floor, goal: { atMost: 0.2 } },
    { name: "bus: publish to 10", unit: "us", value: ten.publish, floor, goal: { atMost: 0.5 } },
    { name: "bus: publish to 1, and delivery", unit: "us", value: one.delivered, floor },
    { name: "bus: publish to 10, and delivery", unit: "us", value: ten.delivered, floor },
    rate(
      "any: 1 match in 1000",
      await throughput(anyRare, batchOf([...new Array<BusEvent>(999).fill(a), other]), 100),
      3e6,
    ),
    rate(
      "all of 2: 999 a, 1 b",
      await throughput(composer("all", ["mcp:a:b", "mcp:a:c"]), lastIs(b), 100),
      3e6,
    ),
    rate(
      "seq of 2: 999 a, 1 b",
      await throughput(composer("seq", ["mcp:a:b", "mcp:a:c"]), lastIs(b), 100),
      3e6,
    ),
    rate(
      "count: 1000",
      await throughput(composer("count", ["mcp:a:b"], { count: 1000 }), lastIs(a), 100),
      3e6,
    ),
    rate(
      "correlate_by: 1000 keys, 1 fire in 1000",
      await throughput(
        composer("correlate_by", ["mcp:a:b", "mcp:a:c"], { correlateBy: "r" }),
        keyedBatch,
        100,
      ),
      2e6,
    ),
  ];
  const dir = await mkdtemp(join(tmpdir(), "reyn-bench-"));
  const audit = openAudit({ dir, clock: systemClock, ids: randomIds(), pid: 1, onProblem: console.error });
  const each = batchOf(new Array<BusEvent>(1000).fill(a)).slice(0, 20_000);
  result.push(
    rate(
      "any: every event fires, unrecorded",
      await throughput(composer("any", ["mcp:a:b"]), each, 20_000),
      3e5,
    ),
    rate(
      "any: every event fires, each with its audit record on disk",
      await throughput(composer("any", ["mcp:a:b"]), each, 20_000, audit),
      1e5,
    ),
    {
      name: "event to composed event at its consumer",
      unit: "us",
      value: await latency(),
      goal: { atMost: 10 },
    },
  );
  result.push({
    name: "a deadline while 1 000 000 unrelated events are published: late by",
    unit: "ms",
    value: await lateness(),
    goal: { atMost: 50 },
  });
  const { arms, floor: bareArms } = await durableArms(dir);
  result.push({
    name: "durable arms, 256 together, 1000 armed",
    unit: "arms/s",
    value: arms,
    floor: bareArms,
    floorName: "bare synced rewrite",
    goal: { atLeast: 20_000 },
  });
  await audit.close();
  await rm(dir, { recursive: true });
  return result;
}
