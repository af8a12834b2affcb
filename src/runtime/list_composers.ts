import { readAudit } from "../audit/reader.ts";
import type { Clock } from "../clock/clock.ts";
import type { Composer, StoredRecord } from "../composers/composer.ts";
import { peekPending } from "../composers/pending_load.ts";
import type { Session } from "../session/session.ts";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { lockHolder } from "../store/state_lock.ts";
import type { Configuration } from "./configuration.ts";
import { eventsDir, pendingPath, stateDir } from "./places.ts";

/** Something that a composer holds pending, with instants as ISO 8601. */
export interface ListedKey {
  key: string;
  /** `fired`: published, and not all hooks on it have settled. */
  state: "pending" | "fired";
  armed_at: string;
  /** When it fires, or is dropped; null once it has fired. */
  due_at: string | null;
  /** Seconds until then; negative when it is overdue. */
  due_in: number | null;
  events: number;
}

/** What a composer of a loaded session holds in memory. */
export interface LiveComposer {
  name: string;
  op: string;
  /** How many keys, those that are not listed included. */
  pending: number;
  keys: ListedKey[];
}

/** What a server tells of a session's composers. */
export interface LiveComposers {
  loaded: boolean;
  composers: LiveComposer[];
}

/** One composer with its state, as far as files tell. */
export interface ListedComposer {
  name: string;
  layer: string;
  op: string;
  inputs: { kind: string; match?: Readonly<Record<string, string>>; as?: string }[];
  until?: { kind: string; match?: Readonly<Record<string, string>> };
  unless?: { kind: string; match?: Readonly<Record<string, string>> }[];
  emits: string;
  /** Seconds. */
  ttl: number;
  durable: boolean;
  /** Null: it is in the memory of the process that runs the session. */
  pending: ListedKey[] | null;
  fires: number;
  last_fire: string | null;
  drops: Record<string, number>;
}

export interface ListOptions {
  controlDir: string;
  configuration: Configuration;
  clock: Clock;
  onProblem(problem: Finding): void;
  /** What the server says that runs here, if one does. */
  live?: LiveComposers;
}

/** Keys that are listed of what one composer holds in memory. */
const MOST_KEYS = 1000;

/** What the composers of a loaded session hold. */
export function liveComposers(session: Pick<Session, "holdings">, clock: Clock): LiveComposer[] {
  const now = clock.now();
  return session.holdings(MOST_KEYS).map(({ composer, pending, keys }) => ({
    name: composer.name,
    op: composer.op,
    pending,
    keys: keys.map(({ key, createdAt, lastAt, events }) => {
      const due = dueOf(composer, { created_at: createdAt, last_at: lastAt });
      return pendingKey(key, { armed: createdAt, due, now, events });
    }),
  }));
}

/** Lists the composers of a session: what is declared, what is pending, and what the audit log says of them. */
export async function listComposers(options: ListOptions): Promise<ListedComposer[]> {
  const { controlDir, configuration, clock } = options;
  const { agent, sid, composers } = configuration;
  const held = lockHolder(stateDir(controlDir)) !== undefined;
  const opOf = new Map(composers.map(({ name, op }) => [name, op]));
  const path = pendingPath(controlDir, { agent, sid });
  const file = peekPending(path, (name) => opOf.get(name));
  const damage = file && (file.ok ? damagedText(file.damaged.length) : file.reason);
  if (damage) options.onProblem(finding("W_COMPOSER_PENDING", `${path} is damaged: ${damage}`));
  const records = file?.ok ? file.records.map(({ record }) => record) : [];
  const told = await readCounts(options, `${agent}/${sid}`);
  /** What no file holds; null: nobody here knows. */
  const inMemory = ({ name, durable, op }: Composer): ListedKey[] | null | undefined => {
    if (durable || op === "any" || !held) return undefined;
    if (!options.live) return null;
    if (!options.live.loaded) return undefined;
    return options.live.composers.find((one) => one.name === name)?.keys ?? null;
  };
  return composers.map((composer) => {
    const live = inMemory(composer);
    const own = records.filter((record) => record.composer === composer.name);
    const counts = told.get(composer.name);
    return {
      name: composer.name,
      layer: composer.layer,
      op: composer.op,
      inputs: composer.inputs.map(({ kind, match, as }) => ({
        kind,
        ...listedMatch(match),
        ...(as === null ? {} : { as }),
      })),
      ...(composer.until
        ? { until: { kind: composer.until.kind, ...listedMatch(composer.until.match) } }
        : {}),
      ...(composer.unless.length > 0
        ? { unless: composer.unless.map(({ kind, match }) => ({ kind, ...listedMatch(match) })) }
        : {}),
      emits: composer.emit,
      ttl: composer.ttlMs / 1000,
      durable: composer.durable,
      pending: live === undefined ? own.map((record) => listedKey(composer, record, clock.now())) : live,
      fires: counts?.fires ?? 0,
      last_fire: counts?.lastFire ?? null,
      drops: counts?.drops ?? {},
    };
  });
}

function damagedText(records: number): string | undefined {
  if (records === 0) return undefined;
  return records === 1 ? "one record cannot be read" : `${records} records cannot be read`;
}

function listedMatch(match: Readonly<Record<string, string>>) {
  return Object.keys(match).length > 0 ? { match } : {};
}

function listedKey(composer: Composer, record: StoredRecord, now: number): ListedKey {
  const { key } = record;
  if (record.t === "fired") {
    return {
      key,
      state: "fired",
      armed_at: new Date(record.event.at).toISOString(),
      due_at: null,
      due_in: null,
      events: 1,
    };
  }
  const due = dueOf(composer, record);
  return pendingKey(key, { armed: record.created_at, due, now, events: record.events.length });
}

function pendingKey(
  key: string,
  { armed, due, now, events }: { armed: number; due: number; now: number; events: number },
): ListedKey {
  return {
    key,
    state: "pending",
    armed_at: new Date(armed).toISOString(),
    due_at: new Date(due).toISOString(),
    due_in: Math.round((due - now) / 100) / 10,
    events,
  };
}

function dueOf(
  { op, ttlMs, maxWaitMs }: Composer,
  { created_at: created, last_at: last }: { created_at: number; last_at: number },
): number {
  if (op !== "debounce") return created + ttlMs;
  return Math.min(last + ttlMs, maxWaitMs === null ? Infinity : created + maxWaitMs);
}

interface Counts {
  fires: number;
  lastFire: string | null;
  drops: Record<string, number>;
}

async function readCounts(
  { controlDir, clock, onProblem }: ListOptions,
  session: string,
): Promise<ReadonlyMap<string, Counts>> {
  const told = new Map<string, Counts>();
  const types = new Set(["composer_fired", "composer_dropped"]);
  for await (
    const line of readAudit({ dir: eventsDir(controlDir), filter: { session, types }, clock, onProblem })
  ) {
    const { type, timestamp, data } = line.event;
    const name = String(data["composer"]);
    const counts = told.get(name) ?? { fires: 0, lastFire: null, drops: {} };
    told.set(name, counts);
    if (type === "composer_fired") {
      counts.fires += 1;
      counts.lastFire = timestamp;
    } else {
      const reason = String(data["reason"]);
      const more = typeof data["count"] === "number" ? data["count"] : 1;
      counts.drops[reason] = (counts.drops[reason] ?? 0) + more;
    }
  }
  return told;
}
