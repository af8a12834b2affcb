import assert from "node:assert/strict";
import { copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { ReynError } from "../../src/errors/reyn_error.ts";
import type { StoreNotice } from "../../src/store/sqlite/open.ts";
import {
  append,
  claim,
  filesIn,
  filledStore,
  inTempState,
  numbers,
  open,
  openFails,
  SESSION,
  texts,
} from "./support.ts";

/** Each makes a store of 200 records unreadable in its own way. */
const DAMAGE: Record<string, (path: string) => Promise<void>> = {
  "not a database": (path) => writeFile(path, "this was a database once\n".repeat(1000)),
  "a header full of noise": (path) => overwrite(path, 0, Buffer.alloc(100, 0xa5)),
  "cut in the middle": (path) => truncate(path, 5 * 4096 + 123),
  "a page full of noise": (path) => overwrite(path, 4096 * 8, Buffer.alloc(4096, 0xa5)),
  "a zeroed page": (path) => overwrite(path, 4096 * 8, Buffer.alloc(4096)),
  "another program's database": async (path) => {
    await rm(path);
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE bookmarks (url TEXT)");
    db.close();
  },
  "a table is gone": async (path) => {
    const db = new DatabaseSync(path);
    db.exec("DROP TABLE snapshot");
    db.close();
  },
  "the database is gone, its -wal is not": async (path) => {
    await rename(path, `${path}-wal`);
  },
  "the database is empty, its -wal is not": async (path) => {
    await rename(path, `${path}-wal`);
    await writeFile(path, "");
  },
  "a -wal whose beginning was zeroed": async (path) => {
    const wal = Buffer.alloc(20_000, 0xa5);
    await writeFile(`${path}-wal`, wal.fill(0, 0, 4096));
  },
  "a -wal that SQLite did not write": (path) => writeFile(`${path}-wal`, "noise ".repeat(2000)),
};

describe("a damaged store", () => {
  for (const [what, damage] of Object.entries(DAMAGE)) {
    it(`is set aside whole and refused, once: ${what}`, () =>
      inTempState(async (dir) => {
        await filledStore(dir, 200);
        const path = join(dir, "reyn.db");
        await damage(path);
        const before = await contents(dir);
        const { error, notices } = await openFails(dir, "E_STATE_CORRUPT");

        const kept = notices[0]?.kind === "set_aside" ? notices[0].path : "";
        assert.match(kept, /reyn\.db\.damaged-\d{8}T\d{6}Z$/);
        assert.ok(error.message.includes(kept), error.message);
        assert.match(error.fix ?? "", /restore a backup .* begins with an empty store/);
        const after = await contents(dir);
        assert.deepEqual(Object.keys(after).filter((name) => /^reyn\.db(-wal|-shm)?$/.test(name)), []);
        for (const [name, bytes] of Object.entries(before)) {
          // SQLite's index of the -wal is its own to rewrite.
          if (name.endsWith("-shm")) continue;
          assert.deepEqual(after[name.replace("reyn.db", basename(kept))], bytes, name);
        }

        const heard: StoreNotice[] = [];
        const store = await open(dir, { onNotice: (notice) => heard.push(notice) });
        assert.deepEqual(await store.sessions(), []);
        await store.close();
        assert.deepEqual(heard, [{ kind: "started_empty", damaged: [kept] }]);
      }));
  }

  it("with a journal to be rolled back is left alone by who only reads, and repaired by the next start", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 20);
      await writeFile(join(dir, "reyn.db-journal"), "stray");
      const before = await contents(dir);
      const { error } = await openFails(dir, "E_STATE_IO", { readOnly: true });
      assert.match(error.fix ?? "", /start reyn once/);
      assert.deepEqual(await contents(dir), before);
      const store = await open(dir);
      assert.deepEqual(await texts(store), numbers(20));
      await store.close();
    }));

  it("is left alone by who only reads", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 20);
      await writeFile(join(dir, "reyn.db"), "noise".repeat(1000));
      const { notices } = await openFails(dir, "E_STATE_CORRUPT", { readOnly: true });
      assert.deepEqual(notices, []);
      assert.deepEqual(await filesIn(dir), ["reyn.db"]);
    }));

  it("takes a -wal of zeros alone for what a crash leaves before the first commit", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 20);
      await writeFile(join(dir, "reyn.db-wal"), Buffer.alloc(600_000));
      const store = await open(dir);
      assert.deepEqual(await texts(store), numbers(20));
      await store.close();
    }));

  it("names the session whose record is damaged, and the others can be used", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 20);
      const db = new DatabaseSync(join(dir, "reyn.db"));
      db.exec("DROP TRIGGER wal_no_update; UPDATE wal SET record = '{\"text' WHERE seq = 7");
      db.close();
      const store = await open(dir);
      const refused = await texts(store).then(() => undefined, (error: unknown) => error);
      assert.ok(refused instanceof ReynError && refused.code === "E_STATE_CORRUPT", String(refused));
      assert.ok(refused.message.includes(SESSION) && refused.message.includes(dir), refused.message);
      assert.match(refused.fix ?? "", /other sessions/);
      const epoch = await claim(store, "default/other");
      const written = await store.commit({ session: "default/other", epoch, ops: [append("1")] });
      assert.equal(written.status, "ok");
      await store.close();
    }));

  it("never takes the place of one that was set aside in the same second", () =>
    inTempState(async (dir) => {
      await mkdir(dir, { recursive: true });
      const clock = virtualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
      for (const content of ["first", "second", "third"]) {
        await writeFile(join(dir, "reyn.db"), content.repeat(500));
        await openFails(dir, "E_STATE_CORRUPT", { clock });
      }
      const files = await contents(dir);
      assert.deepEqual(Object.keys(files), [
        "reyn.db.damaged-20260102T030405Z",
        "reyn.db.damaged-20260102T030405Z-2",
        "reyn.db.damaged-20260102T030405Z-3",
      ]);
      assert.ok(files["reyn.db.damaged-20260102T030405Z"]?.includes("first"));
    }));

  it("loses nothing when the process is killed while setting it aside", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 20);
      const path = join(dir, "reyn.db");
      await writeFile(`${path}-wal`, "noise ".repeat(2000));
      const bytes = await contents(dir);
      for (const at of [1, 2]) {
        let passed = 0;
        const stop = (label: string) => {
          if (label === "store:in_set_aside" && ++passed === at) throw new Error("killed");
        };
        await assert.rejects(open(dir, { killPoint: stop }));
      }
      const kept = Object.values(await contents(dir)).map((file) => file.toString("latin1"));
      for (const file of Object.values(bytes)) assert.ok(kept.includes(file.toString("latin1")));
      const store = await open(dir);
      assert.deepEqual(await store.sessions(), []);
      await store.close();
    }));

  it("is read again when the copy that was set aside is put back and repaired", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 20);
      const path = join(dir, "reyn.db");
      await copyFile(path, `${path}.backup`);
      await writeFile(path, "noise".repeat(1000));
      await openFails(dir, "E_STATE_CORRUPT");
      await rename(`${path}.backup`, path);
      const store = await open(dir);
      assert.deepEqual(await texts(store), numbers(20));
      await store.close();
    }));

  it("found damaged in use takes no more calls, and the next start sets it aside however large it is", () =>
    inTempState(async (dir) => {
      let store = await open(dir);
      const epoch = await claim(store);
      const large = { op: "append", record: { text: "x".repeat(1024 * 1024) } } as const;
      for (let i = 0; i < 33; i++) await store.commit({ session: SESSION, epoch, ops: [large] });
      const ids = Array.from({ length: 400 }, (_, i) => i);
      await Promise.all(
        ids.map((i) => store.put(SESSION, { id: `m${i}`, kind: "k", wake: true, body: { i } })),
      );
      await store.close();

      const path = join(dir, "reyn.db");
      const bytes = await readFile(path);
      const at = bytes.lastIndexOf('{"i":300}');
      const page = at - at % 4096;
      await overwrite(path, page, Buffer.alloc(4096, 0xa5));

      store = await open(dir);
      await assert.rejects(store.pending(SESSION, 1000), { code: "E_STATE_CORRUPT" });
      await assert.rejects(store.commit({ session: SESSION, epoch, ops: [append("x")] }), {
        code: "E_STATE_CORRUPT",
      });
      await store.close();
      await openFails(dir, "E_STATE_CORRUPT");
      assert.ok(!(await filesIn(dir)).includes("reyn.db"));
      assert.ok(!(await filesIn(dir)).some((name) => name.endsWith(".suspect")));
    }));
});

describe("a -wal that was cut short", () => {
  it("leaves an intact beginning, wherever it is cut or overwritten", () =>
    inTempState(async (dir) => {
      const count = 12;
      await killedStore(dir, count);
      const path = join(dir, "reyn.db");
      const [database, wal] = [await readFile(path), await readFile(`${path}-wal`)];
      assert.ok(wal.length > 20_000);
      const cuts = Array.from({ length: 16 }, (_, i) => Math.floor(wal.length * (i + 0.5) / 16));
      const seen = new Set<number>();
      for (const cut of [0, 31, 32, 33, ...cuts, wal.length - 1, wal.length]) {
        const tails = cut >= 32 ? ["", "zeros", "noise"] : cut === 0 ? ["", "zeros"] : [""];
        for (const tail of tails) {
          const fill = tail === ""
            ? Buffer.alloc(0)
            : Buffer.alloc(wal.length - cut, tail === "zeros" ? 0 : 0xa5);
          await writeFile(path, database);
          await writeFile(`${path}-wal`, Buffer.concat([wal.subarray(0, cut), fill]));
          await rm(`${path}-shm`, { force: true });
          const store = await open(dir);
          const found = await texts(store);
          assert.deepEqual(
            found,
            numbers(count).slice(0, found.length),
            `cut at ${cut}, then ${tail || "nothing"}`,
          );
          assert.equal((await store.session(SESSION))?.walSeq ?? 0, found.length);
          await store.close();
          seen.add(found.length);
        }
      }
      assert.ok(seen.has(0) && seen.has(count) && seen.size > 5, [...seen].join());
    }));
});

/** A folder as a kill leaves it: the last commits are in the -wal only. */
async function killedStore(dir: string, count: number): Promise<void> {
  const store = await open(dir);
  const epoch = await claim(store);
  for (let n = 1; n <= count; n++) await store.commit({ session: SESSION, epoch, ops: [append(String(n))] });
  const path = join(dir, "reyn.db");
  const files = await Promise.all([path, `${path}-wal`].map((file) => copyFile(file, `${file}.copy`)));
  assert.equal(files.length, 2);
  await store.close();
  await rename(`${path}.copy`, path);
  await rename(`${path}-wal.copy`, `${path}-wal`);
}

async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  const content = await readFile(path);
  bytes.copy(content, at);
  await writeFile(path, content);
}

async function contents(dir: string): Promise<Record<string, Buffer>> {
  const names = await filesIn(dir);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))])),
  );
}
