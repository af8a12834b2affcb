import type { Audit, AuditEvent } from "../../src/audit/audit.ts";
import { type Bus, createBus } from "../../src/bus/bus.ts";
import { type BusEvent, busEvent } from "../../src/bus/event.ts";
import { createTimerQueue, type TimerQueue } from "../../src/clock/timer_queue.ts";
import { type VirtualClock, virtualClock } from "../../src/clock/virtual_clock.ts";
import type {
  Composer,
  ComposerEngine,
  ComposerInput,
  PendingStore,
  StoredRecord,
} from "../../src/composers/composer.ts";
import { createEngine } from "../../src/composers/engine.ts";
import { compileMatcher } from "../../src/match/mod.ts";

export function input(
  kind: string,
  match: Record<string, string> = {},
  as: string | null = null,
): ComposerInput {
  const matcher = Object.keys(match).length > 0 ? compileMatcher(match) : null;
  return { kind, matcher, match, as };
}

/** A composer with the defaults of a declaration; ttl 10 s. */
export function composer(fields: Partial<Composer> & Pick<Composer, "op">): Composer {
  const name = fields.name ?? fields.op;
  return {
    name,
    layer: "startup",
    index: 0,
    inputs: [input("a"), input("b")],
    until: null,
    unless: [],
    emit: `composed:${name}`,
    ttlMs: 10_000,
    capacity: 10,
    overflow: "drop_oldest",
    maxEventsPerKey: 1000,
    maxBytes: 16 * 1024 ** 2,
    correlateBy: null,
    count: null,
    maxWaitMs: null,
    rateLimit: null,
    durable: false,
    ...fields,
  };
}

/** Keeps records as JSON text, and answers when it is told to. */
export interface MemoryStore extends PendingStore {
  records(): StoredRecord[];
  saves: number;
}

export function memoryStore(): MemoryStore {
  const texts = new Map<string, string>();
  const store: MemoryStore = {
    saves: 0,
    save(changes) {
      store.saves += 1;
      for (const { id, record } of changes) {
        if (record) texts.set(id, JSON.stringify(record));
        else texts.delete(id);
      }
      return Promise.resolve();
    },
    records: () => [...texts.values()].map((text): StoredRecord => JSON.parse(text)),
  };
  return store;
}

export interface World {
  clock: VirtualClock;
  timers: TimerQueue;
  bus: Bus;
  engine: ComposerEngine;
  /** Composed events in the order in which the consumer got them. */
  composed: BusEvent[];
  /** `composer key reason` of each drop record, `xN` behind it where it stands for several. */
  drops(): string[];
  records: Pick<AuditEvent, "type" | "data">[];
  publish(kind: string, payload?: Record<string, unknown>, id?: string): void;
  /** Publishes, and waits until it has been taken. */
  send(kind: string, payload?: Record<string, unknown>, id?: string): Promise<void>;
}

export interface WorldOptions {
  clock?: VirtualClock;
  store?: PendingStore;
  restored?: StoredRecord[];
}

/** A bus with the composers at work on it and a consumer of what they publish, on a virtual clock. */
export function world(composers: readonly Composer[], options: WorldOptions = {}): World {
  const clock = options.clock ?? virtualClock();
  const fail = (error: unknown) => {
    throw error;
  };
  const timers = createTimerQueue(clock, fail);
  const records: World["records"] = [];
  const audit: Audit = {
    emit: (type, _session, data) => {
      records.push({
        type,
        data: { ...(typeof data === "function" ? data() : data) as Record<string, unknown> },
      });
    },
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const bus = createBus({
    clock,
    onDropped: (subscriber, count) =>
      audit.emit("bus_subscriber_dropped", null, { subscriber_id: subscriber, drop_count: count }),
    onError: (_, error) => fail(error),
  });
  const composed: BusEvent[] = [];
  bus.subscribe({
    name: "consumer",
    kinds: ["composed:*"],
    limit: Infinity,
    handle: (event) => void composed.push(event),
  });
  const engine = createEngine(composers, {
    session: "default/main",
    bus,
    timers,
    audit,
    store: options.store ?? null,
  });
  engine.start(options.restored);
  let count = 0;
  const publish: World["publish"] = (kind, payload = {}, id = `e${++count}`) =>
    bus.publish(busEvent({ id, kind, payload, chainId: null, at: timers.now() }));
  return {
    clock,
    timers,
    bus,
    engine,
    composed,
    records,
    drops: () =>
      records.filter(({ type }) => type === "composer_dropped").map(({ data }) => {
        const words = [data["composer"], data["correlation_key"], data["reason"]].map(String);
        if (data["count"] !== undefined) words.push(`x${JSON.stringify(data["count"])}`);
        return words.join(" ");
      }),
    publish,
    async send(kind, payload, id) {
      publish(kind, payload, id);
      await bus.drained();
    },
  };
}

/** `<kind> <correlation key>` of a composed event. */
export function keyed({ kind, payload }: BusEvent): string {
  return `${kind} ${String(payload["correlation_key"])}`;
}

/** The `n` fields of the events in a composed event. */
export function numbers(event: BusEvent | undefined): unknown[] {
  const inputs = event?.payload["inputs"];
  return Array.isArray(inputs) ? inputs.map((payload: Record<string, unknown>) => payload["n"]) : [];
}
