import process from "node:process";
import type { Clock } from "../clock/clock.ts";
import { sleep, systemClock } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { type AllowlistEntry, allowlistText, readEntry, writeEntry } from "./allowlist_entry.ts";
import { fileStamp, readAllowlist, realName, setAside, writeAllowlist } from "./allowlist_file.ts";
import { type ConsentKey, keyText } from "./consent_key.ts";
import { describeChange } from "./describe_change.ts";
import { lockFor } from "./kernel_lock.ts";

export type Found =
  | { status: "approved"; entry: AllowlistEntry }
  /** Something near it is approved; `what` names each difference. */
  | { status: "changed"; from: AllowlistEntry; what: string[] }
  | { status: "absent" };

export type Stored = { status: "stored" } | { status: "not_stored"; reason: string };
export type Removed =
  | { status: "stored"; removed: AllowlistEntry[] }
  | { status: "not_stored"; reason: string };

/** The operator's approvals. Nothing here throws. */
export interface Allowlist {
  readonly path: string;
  /** Whether exactly this is approved, as the file stands now. `hook` helps to find what it was before. */
  find(key: ConsentKey, hook?: string | null): Promise<Found>;
  /** Approves. An approval of the same hook that differs in the content of its files alone is replaced. */
  add(key: ConsentKey, hook: string | null): Promise<Stored>;
  /** Takes back every entry that the function says yes to. */
  remove(which: (entry: AllowlistEntry) => boolean): Promise<Removed>;
  list(): Promise<AllowlistEntry[]>;
  /** Why all or some of the file approves nothing. What was set aside is told as long as the process lives. */
  problems(): Promise<Finding[]>;
}

export interface AllowlistOptions {
  /** Absolute. */
  path: string;
  clock: Clock;
  /** Whose the file must be. Default: the account that this process acts as. */
  uid?: number;
  /** Longest wait for another writer, in milliseconds. Default 5000. */
  lockWaitMs?: number;
}

interface Snapshot {
  stamp: string | undefined;
  entries: AllowlistEntry[];
  approved: Map<string, AllowlistEntry>;
  damaged: boolean;
  problems: Finding[];
}

/** How long a damaged file is given: an editor may just be writing it. */
const EDITOR_MS = 100;
const MOST_NOTES = 10;

export function openAllowlist(options: AllowlistOptions): Allowlist {
  const { path, clock, lockWaitMs = 5000 } = options;
  const uid = options.uid ?? process.geteuid?.() ?? -1;
  const notes: Finding[] = [];
  let last: Snapshot | undefined;

  const read = (): Snapshot => {
    // Before reading: a change in between shows next time.
    const stamp = fileStamp(path);
    if (last && stamp !== undefined && stamp === last.stamp) return last;
    return (last = { stamp, ...snapshot(path, uid) });
  };

  const current = async (): Promise<Snapshot> => {
    const found = read();
    if (!found.damaged) return found;
    await locked(() => settleDamage());
    return read();
  };

  /** Under the lock. Answers why the damaged file is still there, if it is. */
  const settleDamage = async (): Promise<string | undefined> => {
    await sleep(systemClock, EDITOR_MS);
    const again = readAllowlist(path, uid);
    if (again.status !== "damaged") return undefined;
    const aside = await setAside(path, clock.now());
    if (aside === undefined) return `${again.reason}, and it cannot be set aside`;
    const message =
      `the allowlist ${path} was damaged (${again.reason}) and approves nothing; it is now ${aside}`;
    notes.push(finding("E_ALLOWLIST_DAMAGED", message, { fix: "approve the hooks again" }));
    if (notes.length > MOST_NOTES) notes.shift();
    return undefined;
  };

  const locked = async <T>(work: () => Promise<T>): Promise<T | { reason: string }> => {
    const lock = await lockFor(realName(path), lockWaitMs);
    if (!lock.ok) return { reason: lock.reason };
    try {
      return await work();
    } finally {
      lock.release();
      last = undefined;
    }
  };

  /** `edit` gets the elements as they stand and answers what is to stand there; undefined: nothing is to change. */
  const change = async (
    edit: (elements: readonly unknown[]) => readonly unknown[] | undefined,
  ): Promise<Stored> => {
    const result = await locked(async () => {
      let now = readAllowlist(path, uid);
      if (now.status === "damaged") {
        const reason = await settleDamage();
        if (reason !== undefined) return { reason };
        now = readAllowlist(path, uid);
      }
      if (now.status === "unsafe" || now.status === "damaged") return { reason: `${path}: ${now.reason}` };
      const next = edit(now.status === "read" ? now.elements : []);
      if (!next) return {};
      const written = await writeAllowlist(path, allowlistText(next));
      return written.ok ? {} : { reason: written.reason };
    });
    return "reason" in result ? { status: "not_stored", reason: result.reason } : { status: "stored" };
  };

  return {
    path,
    async find(key, hook = null) {
      const { approved, entries } = await current();
      const entry = approved.get(keyText(key));
      return entry ? { status: "approved", entry } : nearest(entries, key, hook);
    },
    add(key, hook) {
      const text = keyText(key);
      return change((elements) => {
        const known = elements.map((element) => readEntry(element));
        if (known.some((entry) => entry.key && keyText(entry.key) === text)) return undefined;
        const kept = elements.filter((_, i) => {
          const entry = known[i];
          return !(entry?.key && entry.hook === hook && shape(entry.key) === shape(key));
        });
        return [...kept, writeEntry(key, hook, clock.now())];
      });
    },
    async remove(which) {
      let removed: AllowlistEntry[] = [];
      const stored = await change((elements) => {
        const kept: unknown[] = [];
        removed = [];
        for (const element of elements) {
          const entry = readEntry(element);
          if (which(entry)) removed.push(entry);
          else kept.push(element);
        }
        return removed.length > 0 ? kept : undefined;
      });
      return stored.status === "stored" ? { ...stored, removed } : stored;
    },
    list: async () => [...(await current()).entries],
    problems: async () => [...(await current()).problems, ...notes],
  };
}

function snapshot(path: string, uid: number): Omit<Snapshot, "stamp"> {
  const file = readAllowlist(path, uid);
  const empty = { entries: [], approved: new Map<string, AllowlistEntry>(), damaged: false, problems: [] };
  switch (file.status) {
    case "absent":
      return empty;
    case "unsafe": {
      const message = `the allowlist ${path} approves nothing: ${file.reason}`;
      const fix = "see to it that it is your own and nobody else's: chmod 600, chown";
      return { ...empty, problems: [finding("E_ALLOWLIST_UNSAFE", message, { fix })] };
    }
    case "damaged": {
      const message = `the allowlist ${path} is damaged and approves nothing: ${file.reason}`;
      const fix = "repair it, or move it away";
      return { ...empty, damaged: true, problems: [finding("E_ALLOWLIST_DAMAGED", message, { fix })] };
    }
    case "read": {
      const entries = file.elements.map((element) => readEntry(element));
      const approved = new Map<string, AllowlistEntry>();
      for (const entry of entries) if (entry.key) approved.set(keyText(entry.key), entry);
      return { entries, approved, damaged: false, problems: entryProblems(path, entries) };
    }
  }
}

/** One for each reason, not for each entry. */
function entryProblems(path: string, entries: readonly AllowlistEntry[]): Finding[] {
  const counts = new Map<string, number>();
  for (const { reason } of entries) {
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => {
    const some = count === 1 ? "an approval" : `${count} approvals`;
    const message = `the allowlist ${path} holds ${some} of no effect: ${reason}`;
    return finding("W_ALLOWLIST_ENTRY", message, { fix: "approve the hook again" });
  });
}

/** The approval that the key most likely was before: the same command here, else the hook's own here, else the same command elsewhere. */
function nearest(entries: readonly AllowlistEntry[], key: ConsentKey, hook: string | null): Found {
  const argv = JSON.stringify(key.argv);
  let best: { rank: number; what: string[]; from: AllowlistEntry } | undefined;
  for (const from of entries) {
    if (!from.key) continue;
    const isHere = from.key.cwd === key.cwd;
    const isCommand = JSON.stringify(from.key.argv) === argv;
    const isHook = hook !== null && from.hook === hook;
    const rank = (isHere && isCommand ? 4 : 0) + (isHere && isHook ? 2 : 0) + (isCommand ? 1 : 0);
    if (rank === 0 || (best && rank < best.rank)) continue;
    const what = describeChange(from.key, key);
    // Of equals the one with fewer differences, then the later.
    if (!best || rank > best.rank || what.length <= best.what.length) best = { rank, what, from };
  }
  return best ? { status: "changed", from: best.from, what: best.what } : { status: "absent" };
}

/** What of a key stays when the content of its files changes. */
function shape(key: ConsentKey): string {
  const files = Object.fromEntries(Object.keys(key.files).map((file) => [file, ""]));
  return keyText({ ...key, files });
}
