import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { ReynError } from "../../src/errors/reyn_error.ts";
import { copyDatabase } from "../../src/store/sqlite/copy.ts";
import { SCHEMA_VERSION } from "../../src/store/sqlite/schema.ts";
import {
  append,
  claim,
  filesIn,
  filledStore,
  inTempState,
  numbers,
  open,
  SESSION,
  texts,
} from "./support.ts";

describe("a copy of the database", () => {
  it("holds all that was committed, and nothing of what was not, while the store is in use", () =>
    inTempState(async (dir) => {
      const store = await open(dir);
      const epoch = await claim(store);
      for (const text of numbers(50)) await store.commit({ session: SESSION, epoch, ops: [append(text)] });
      const writer = new DatabaseSync(join(dir, "reyn.db"));
      writer.exec("BEGIN IMMEDIATE; UPDATE session SET status = 'half'");
      const target = join(dir, "..", "restored", "reyn.db");
      await (await open(join(dir, "..", "restored"))).close();
      const copy = copyDatabase(join(dir, "reyn.db"), `${target}.copy`);
      writer.exec("ROLLBACK");
      writer.close();
      await store.commit({ session: SESSION, epoch, ops: [append("later")] });
      await store.close();
      assert.equal(copy.version, SCHEMA_VERSION);
      assert.equal(copy.bytes, (await stat(`${target}.copy`)).size);
      await writeFile(target, await readFile(`${target}.copy`));
      const restored = await open(join(dir, "..", "restored"));
      assert.deepEqual(await texts(restored), numbers(50));
      assert.deepEqual((await restored.session(SESSION))?.status, {});
      await restored.close();
    }));

  it("is 0600 whatever the umask, and leaves nothing else behind", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 3);
      const before = process.umask(0);
      try {
        copyDatabase(join(dir, "reyn.db"), join(dir, "copy.db"));
      } finally {
        process.umask(before);
      }
      assert.equal(((await stat(join(dir, "copy.db"))).mode & 0o777).toString(8), "600");
      assert.deepEqual((await filesIn(dir)).filter((name) => name.startsWith("copy")), ["copy.db"]);
    }));

  it("never takes the place of a file or a link, not even of one that came meanwhile", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 3);
      const target = join(dir, "copy.db");
      const source = join(dir, "reyn.db");
      for (const occupy of [() => writeFileSync(target, "mine"), () => symlinkSync("elsewhere", target)]) {
        const meanwhile = (label: string) => {
          if (label === "store:before_copy_named") occupy();
        };
        assert.throws(() => copyDatabase(source, target, meanwhile), isExists);
        await rm(target);
      }
      assert.deepEqual((await filesIn(dir)).filter((name) => name.startsWith("copy")), []);
    }));

  it("is refused where the database is damaged in a page that is copied", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 2000);
      const path = join(dir, "reyn.db");
      const bytes = await readFile(path);
      bytes.fill(0xab, 6 * 4096, 9 * 4096);
      await writeFile(path, bytes);
      assert.throws(() => copyDatabase(path, join(dir, "copy.db")));
      assert.deepEqual((await filesIn(dir)).filter((name) => name.startsWith("copy")), []);
    }));
});

function isExists(error: unknown): boolean {
  return error instanceof ReynError && error.code === "E_BACKUP_EXISTS";
}
