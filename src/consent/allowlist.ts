import type { Clock } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { type AllowlistEntry, readEntry, writeEntry } from "./allowlist_entry.ts";
import { type ConsentKey, keyText } from "./consent_key.ts";
import { describeChange } from "./describe_change.ts";
import { fileStamp, type ListRead } from "./list_file.ts";
import { listStore, type Stored } from "./list_store.ts";
import { listText } from "./list_text.ts";

export type Found =
  | { status: "approved"; entry: AllowlistEntry }
  /** Something near it is approved; `what` names each difference. */
  | { status: "changed"; from: AllowlistEntry; what: string[] }
  | { status: "absent" };

export type Removed =
  | { status: "stored"; removed: AllowlistEntry[] }
  | { status: "not_stored"; reason: string };

/** The operator's approvals. Nothing here throws. */
export interface Allowlist {
  readonly path: string;
  /** Whether exactly this is approved, as the file stands now. `hook` helps to find what it was before. */
  find(key: ConsentKey, hook?: string | null): Promise<Found>;
  /** Approves. An approval of the same hook that differs in the content of its files or its config alone is replaced. */
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
  /** Why the file counts for nothing, whatever is in it. */
  problem?: string | undefined;
}

interface Snapshot {
  stamp: string | undefined;
  entries: AllowlistEntry[];
  approved: Map<string, AllowlistEntry>;
  damaged: boolean;
  problems: Finding[];
}

const MOST_NOTES = 10;

export function openAllowlist(options: AllowlistOptions): Allowlist {
  const { path, clock } = options;
  const notes: Finding[] = [];
  let last: Snapshot | undefined;

  const store = listStore({
    ...options,
    onSetAside(reason, aside) {
      const message =
        `the allowlist ${path} was damaged (${reason}) and approves nothing; it is now ${aside}`;
      notes.push(finding("E_ALLOWLIST_DAMAGED", message, { fix: "approve the hooks again" }));
      if (notes.length > MOST_NOTES) notes.shift();
    },
    onChanged() {
      last = undefined;
    },
  });

  const read = (): Snapshot => {
    // Before reading: a change in between shows next time.
    const stamp = fileStamp(path);
    if (last && stamp !== undefined && stamp === last.stamp) return last;
    return (last = { stamp, ...snapshot(options, store.read()) });
  };

  const current = async (): Promise<Snapshot> => {
    const found = read();
    if (!found.damaged) return found;
    await store.settleDamage();
    return read();
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
      return store.change((elements) => {
        const known = elements.map((element) => readEntry(element));
        if (known.some((entry) => entry.key && keyText(entry.key) === text)) return undefined;
        const kept = elements.filter((_, i) => {
          const entry = known[i];
          return !(entry?.key && entry.hook === hook && shape(entry.key) === shape(key));
        });
        return listText([...kept, writeEntry(key, hook, clock.now())]);
      });
    },
    async remove(which) {
      let removed: AllowlistEntry[] = [];
      const stored = await store.change((elements) => {
        const kept: unknown[] = [];
        removed = [];
        for (const element of elements) {
          const entry = readEntry(element);
          if (which(entry)) removed.push(entry);
          else kept.push(element);
        }
        return removed.length > 0 ? listText(kept) : undefined;
      });
      return stored.status === "stored" ? { ...stored, removed } : stored;
    },
    list: async () => [...(await current()).entries],
    problems: async () => [...(await current()).problems, ...notes],
  };
}

function snapshot(options: AllowlistOptions, file: ListRead): Omit<Snapshot, "stamp"> {
  const { path } = options;
  const empty = { entries: [], approved: new Map<string, AllowlistEntry>(), damaged: false, problems: [] };
  switch (file.status) {
    case "absent":
      return empty;
    case "unsafe": {
      const message = `the allowlist ${path} approves nothing: ${file.reason}`;
      const fix = options.problem === undefined
        ? "see to it that it is your own and nobody else's: chmod 600, chown"
        : "name another file in REYN_SHELL_HOOKS_ALLOWLIST";
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

/** What of a key stays when the content of its files, or of its config, changes. */
function shape(key: ConsentKey): string {
  const blank = (map: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.keys(map).map((name) => [name, ""]));
  return keyText({ ...key, files: blank(key.files), config: blank(key.config) });
}
