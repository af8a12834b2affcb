import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/clock/clock.ts";
import type { ErrorCode } from "../../src/errors/catalogue.ts";
import { ReynError } from "../../src/errors/reyn_error.ts";
import { openSqliteStore, type SqliteStoreOptions, type StoreNotice } from "../../src/store/sqlite/open.ts";
import type { JsonObject, Op, Store } from "../../src/store/store.ts";

export const SESSION = "default/a";

/** A state folder that does not exist yet, in a temporary folder of its own. */
export async function tempState(): Promise<{ dir: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), "reyn-store-"));
  return { dir: join(root, "state"), remove: () => rm(root, { recursive: true, force: true }) };
}

export async function inTempState(fn: (dir: string) => Promise<void>): Promise<void> {
  const { dir, remove } = await tempState();
  try {
    await fn(dir);
  } finally {
    await remove();
  }
}

export function open(dir: string, more: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  return openSqliteStore({ dir, clock: systemClock, ...more });
}

/** Opens, expecting the given error; answers it and what was noticed on the way. */
export async function openFails(dir: string, code: ErrorCode, more: Partial<SqliteStoreOptions> = {}) {
  const notices: StoreNotice[] = [];
  const error = await open(dir, { onNotice: (notice) => notices.push(notice), ...more }).then(
    () => assert.fail("the store opened"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ReynError, String(error));
  assert.equal(error.code, code, error.message);
  return { error, notices };
}

export async function claim(store: Store, session = SESSION): Promise<number> {
  const answer = await store.claim(session, "test", 60_000);
  assert.equal(answer.status, "claimed");
  return answer.status === "claimed" ? answer.epoch : 0;
}

export function append(text: string): Op {
  return { op: "append", record: { text } };
}

/** Makes a store with `count` records "1", "2", … in one session and closes it. */
export async function filledStore(dir: string, count: number): Promise<void> {
  const store = await open(dir);
  const epoch = await claim(store);
  await Promise.all(
    numbers(count).map((text) => store.commit({ session: SESSION, epoch, ops: [append(text)] })),
  );
  await store.close();
}

export async function texts(store: Store, session = SESSION): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of store.records(session, 0)) {
    found.push(...batch.map(({ record }) => typeof record.text === "string" ? record.text : ""));
  }
  return found;
}

export async function filesIn(dir: string): Promise<string[]> {
  return (await readdir(dir)).sort();
}

export function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(i + 1));
}

export function big(bytes: number): JsonObject {
  return { text: "x".repeat(bytes) };
}

export const CRASH_SESSIONS = ["default/x", "default/y", "default/z"] as const;

/** Starts a script of this folder with the runtime that runs the tests. */
export function runScript(name: string, ...args: string[]): ChildProcess {
  const flags = process.versions.deno === undefined ? [] : ["run", "-A", "--no-check", "--quiet"];
  return spawn(process.execPath, [...flags, fileURLToPath(new URL(name, import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** What a script printed until it ended, and how it ended. */
export async function ended(
  child: ChildProcess,
): Promise<{ lines: string[]; signal: NodeJS.Signals | null }> {
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => printed += chunk);
  const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("close", (_, by) => resolve(by))
  );
  return { lines: printed.split("\n").slice(0, -1), signal };
}
