import { COMPOSER_OPS, type ComposerOp, type StoredEvent, type StoredRecord } from "./composer.ts";
import { exactInstant, firedId, pendingId } from "./stored.ts";

/** `composer_pending.json`: every durable record of one session. Instants in it are wall-clock epoch seconds. */
export const PENDING_VERSION = 1;

export type Decoded =
  | { ok: true; records: { id: string; record: StoredRecord }[]; damaged: DamagedRecord[] }
  /** The file as a whole is of no use. */
  | { ok: false; reason: string };

/** One record that cannot be read, with as much of it as can be told. */
export interface DamagedRecord {
  composer: string;
  key: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** One record as a line of the file. */
export function encodeRecord(stored: StoredRecord): string {
  const { composer, op, key } = stored;
  const record = stored.t === "pending"
    ? {
      events: stored.events.map(encodeEvent),
      created_at: stored.created_at / 1000,
      last_at: stored.last_at / 1000,
    }
    : { events: [encodeEvent(stored.event)] };
  return JSON.stringify({ composer, op, key, state: stored.t, record });
}

/** The whole file, one record a line. */
export function encodeFile(lines: Iterable<string>): string {
  const body = [...lines].join(",\n");
  return `{"version":${PENDING_VERSION},"records":[${body === "" ? "" : `\n${body}\n`}]}\n`;
}

/** Reads the file back. `opOf` gives the op of a composer for a record that does not say it. */
export function decodeFile(text: string, opOf: (composer: string) => ComposerOp | undefined): Decoded {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return { ok: false, reason: "it is not JSON" };
  }
  if (!isFields(file)) return { ok: false, reason: "it is not a map" };
  if (file["version"] !== PENDING_VERSION) return { ok: false, reason: "it is of another version" };
  const list = file["records"];
  if (!Array.isArray(list)) return { ok: false, reason: "it holds no list of records" };
  const records: { id: string; record: StoredRecord }[] = [];
  const damaged: DamagedRecord[] = [];
  for (const item of list as unknown[]) {
    const decoded = decodeRecord(item, opOf);
    const fields = isFields(item) ? item : {};
    if (decoded) records.push({ id: idOf(decoded), record: decoded });
    else damaged.push({ composer: textOf(fields["composer"]) ?? "?", key: textOf(fields["key"]) ?? "?" });
  }
  return { ok: true, records, damaged };
}

function idOf(record: StoredRecord): string {
  return record.t === "pending" ? pendingId(record.composer, record.key) : firedId(record.event.id);
}

function encodeEvent({ id, kind, payload, chain_id, at }: StoredEvent) {
  return { id, kind, payload, source: "builtin", chain_id, emitted_at: at / 1000 };
}

function decodeRecord(
  item: unknown,
  opOf: (composer: string) => ComposerOp | undefined,
): StoredRecord | undefined {
  if (!isFields(item) || !isFields(item["record"])) return undefined;
  const { record } = item;
  const composer = textOf(item["composer"]);
  const key = textOf(item["key"]);
  if (composer === undefined || key === undefined || !Array.isArray(record["events"])) return undefined;
  const op = item["op"] === undefined
    ? opOf(composer) ?? "deadline"
    : COMPOSER_OPS.find((one) => one === item["op"]);
  const events = record["events"].map(decodeEvent);
  const whole = events.flatMap((event) => event ?? []);
  if (op === undefined || whole.length < events.length) return undefined;
  if (item["state"] === "fired") {
    const [event] = whole;
    return event && { t: "fired", composer, op, key, event };
  }
  const created = secondsOf(record["created_at"]);
  const last = secondsOf(record["last_at"]) ?? created;
  if (created === undefined || last === undefined) return undefined;
  return { t: "pending", composer, op, key, created_at: created, last_at: last, events: whole };
}

function decodeEvent(item: unknown): StoredEvent | undefined {
  if (!isFields(item) || !isFields(item["payload"])) return undefined;
  const id = textOf(item["id"]);
  const kind = textOf(item["kind"]);
  const at = secondsOf(item["emitted_at"]);
  if (id === undefined || kind === undefined || at === undefined) return undefined;
  return { id, kind, payload: { ...item["payload"] }, chain_id: textOf(item["chain_id"]) ?? null, at };
}

/** Milliseconds from seconds, as they were before they were written. */
function secondsOf(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return exactInstant(value * 1000);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
