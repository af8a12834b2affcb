import { Buffer } from "node:buffer";
import { mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Random } from "./random.ts";

/** One way to harm a state folder. */
export interface Damage {
  name: string;
  /** `keeps`: must work with all that there was; `prefix`: with an intact beginning; `any`: or refuse with a code. */
  allowed: "keeps" | "prefix" | "any";
  apply(stateDir: string): Promise<void>;
}

export interface DamagePlan {
  /** How many places of each file are tried in each way. */
  places: number;
  random: Random;
  sizes: { db: number; wal: number };
}

const PAGE = 4096;

/** Everything that is tried on a folder whose `-wal` holds commits that were acknowledged. */
export function damages({ places, random, sizes }: DamagePlan): Damage[] {
  return [
    ...spread(sizes.wal, places * 3, random).map((at): Damage => ({
      name: `-wal cut at ${at}`,
      allowed: "prefix",
      apply: (dir) => truncate(join(dir, "reyn.db-wal"), at),
    })),
    ...spread(sizes.wal, places, random).map((at) =>
      onWal(`zeroed from ${at}`, at < 32 ? "any" : "prefix", (b) => b.fill(0, at))
    ),
    ...spread(sizes.wal, places, random).map((at) =>
      onWal(`garbage from ${at}`, at < 32 ? "any" : "prefix", (b) => b.set(random.bytes(b.length - at), at))
    ),
    ...spread(sizes.wal - 64, places, random).map((at) =>
      onWal(`64 bytes of garbage at ${at}`, at < 32 ? "any" : "prefix", (b) => b.set(random.bytes(64), at))
    ),
    ...spread(sizes.db, places, random).map((at): Damage => ({
      name: `reyn.db cut at ${at}`,
      allowed: "any",
      apply: (dir) => truncate(join(dir, "reyn.db"), at),
    })),
    ...spread(sizes.db - 512, places * 2, random).map((at) =>
      onFile("reyn.db", `512 bytes of garbage at ${at}`, "any", (b) => b.set(random.bytes(512), at))
    ),
    ...spread(sizes.db / PAGE, places, random).map((page) =>
      onFile("reyn.db", `page ${page + 1} zeroed`, "any", (b) => b.fill(0, page * PAGE, (page + 1) * PAGE))
    ),
    ...SINGLE,
  ];
}

/** What is tried once. */
const SINGLE: readonly Damage[] = [
  { name: "nothing", allowed: "keeps", apply: () => Promise.resolve() },
  onWal("its header zeroed", "any", (b) => b.fill(0, 0, 32)),
  onWal("its header garbage", "any", (b) => b.fill(0xa5, 0, 32)),
  { name: "-wal removed", allowed: "prefix", apply: (dir) => rm(join(dir, "reyn.db-wal")) },
  { name: "-wal empty", allowed: "prefix", apply: (dir) => truncate(join(dir, "reyn.db-wal"), 0) },
  { name: "-wal a folder", allowed: "any", apply: (dir) => replaceByFolder(join(dir, "reyn.db-wal")) },
  { name: "-shm removed", allowed: "keeps", apply: (dir) => rm(join(dir, "reyn.db-shm"), { force: true }) },
  {
    name: "-shm garbage",
    allowed: "keeps",
    apply: (dir) => writeFile(join(dir, "reyn.db-shm"), Buffer.alloc(32768, 0xa5)),
  },
  { name: "-shm a folder", allowed: "any", apply: (dir) => replaceByFolder(join(dir, "reyn.db-shm")) },
  {
    name: "-shm and -wal removed",
    allowed: "prefix",
    async apply(dir) {
      for (const suffix of ["-shm", "-wal"]) await rm(join(dir, `reyn.db${suffix}`), { force: true });
    },
  },
  { name: "reyn.db empty", allowed: "any", apply: (dir) => truncate(join(dir, "reyn.db"), 0) },
  {
    name: "reyn.db empty, -wal removed",
    allowed: "any",
    async apply(dir) {
      await truncate(join(dir, "reyn.db"), 0);
      await rm(join(dir, "reyn.db-wal"));
    },
  },
  { name: "reyn.db removed", allowed: "any", apply: (dir) => rm(join(dir, "reyn.db")) },
  { name: "reyn.db a folder", allowed: "any", apply: (dir) => replaceByFolder(join(dir, "reyn.db")) },
  {
    name: "reyn.db a text",
    allowed: "any",
    apply: (dir) => writeFile(join(dir, "reyn.db"), "not a database\n".repeat(999)),
  },
  { name: "reyn.db of another program", allowed: "any", apply: (dir) => foreign(join(dir, "reyn.db")) },
  {
    name: "a stray -journal",
    allowed: "any",
    apply: (dir) => writeFile(join(dir, "reyn.db-journal"), "stray"),
  },
  {
    name: "lock a text",
    allowed: "any",
    apply: (dir) => writeFile(join(dir, "lock"), "not a lock\n".repeat(99)),
  },
  { name: "lock a folder", allowed: "any", apply: (dir) => replaceByFolder(join(dir, "lock")) },
  {
    name: "lock-holder.json garbage",
    allowed: "keeps",
    apply: (dir) => writeFile(join(dir, "lock-holder.json"), "{"),
  },
  {
    name: "lock-holder.json a folder",
    allowed: "any",
    apply: (dir) => replaceByFolder(join(dir, "lock-holder.json")),
  },
  {
    name: "events a file",
    allowed: "keeps",
    async apply(dir) {
      await rm(join(dir, "..", "events"), { recursive: true, force: true });
      await writeFile(join(dir, "..", "events"), "");
    },
  },
  {
    name: "the state folder a file",
    allowed: "any",
    async apply(dir) {
      await rm(dir, { recursive: true });
      await writeFile(dir, "");
    },
  },
];

function onWal(how: string, allowed: Damage["allowed"], change: (bytes: Buffer) => void): Damage {
  return onFile("reyn.db-wal", how, allowed, change);
}

function onFile(
  file: string,
  how: string,
  allowed: Damage["allowed"],
  change: (bytes: Buffer) => void,
): Damage {
  return {
    name: `${file === "reyn.db" ? file : "-wal"}: ${how}`,
    allowed,
    async apply(dir) {
      const bytes = await readFile(join(dir, file));
      change(bytes);
      await writeFile(join(dir, file), bytes);
    },
  };
}

/** `count` different places from 0 to below `size`, evenly apart, from a random beginning. */
function spread(size: number, count: number, random: Random): number[] {
  const step = Math.max(1, Math.floor(size / count));
  const places: number[] = [];
  for (let at = random.below(step); at < Math.floor(size); at += step) places.push(at);
  return places;
}

async function replaceByFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path);
  await writeFile(join(path, "inside"), "kept");
}

async function foreign(path: string): Promise<void> {
  await rm(path);
  await rm(`${path}-wal`);
  await rm(`${path}-shm`, { force: true });
  const db = new DatabaseSync(path);
  db.exec(
    "CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO accounts (name) VALUES ('someone')",
  );
  db.close();
}
