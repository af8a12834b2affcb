import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { allowlistAt, exitCode, firstLine, key, runScript } from "./support.ts";

describe("an allowlist with many writers", () => {
  let root = "";
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), "reyn-writers-"));
  });
  after(() => rmSync(root, { recursive: true }));

  it("loses no approval of processes that write at once", async () => {
    const file = path.join(root, "processes.json");
    const names = ["a", "b", "c"];
    const children = names.map((name) => runScript("allowlist_writer.ts", file, name, "15"));
    assert.deepEqual(await Promise.all(children.map(exitCode)), [0, 0, 0]);
    const stored = (await allowlistAt(file).list()).map((entry) => entry.command).sort();
    const wanted = names.flatMap((name) => Array.from({ length: 15 }, (_, i) => `/bin/true ${name} ${i}`));
    assert.deepEqual(stored, wanted.sort());
  });

  it("loses no approval of one process that writes at once, and is whole whenever it is read", async () => {
    const file = path.join(root, "own.json");
    const lists = [allowlistAt(file, { lockWaitMs: 30_000 }), allowlistAt(file, { lockWaitMs: 30_000 })];
    let done = false;
    const writing = Promise.all(
      lists.flatMap((list, who) =>
        Array.from({ length: 10 }, (_, i) => list.add(key({ argv: ["/bin/true", `${who}.${i}`] }), null))
      ),
    ).finally(() => done = true);
    while (!done) {
      if (existsSync(file)) JSON.parse(readFileSync(file, "utf8"));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    for (const stored of await writing) assert.deepEqual(stored, { status: "stored" });
    assert.equal((await allowlistAt(file).list()).length, 20);
  });

  it("waits for another writer no longer than it is told, and not at all for one that was killed", async () => {
    const file = path.join(root, "held.json");
    const holder = runScript("allowlist_writer.ts", file, "x", "hold");
    try {
      assert.equal(await firstLine(holder), "held");
      const refused = await allowlistAt(file, { lockWaitMs: 50 }).add(key(), null);
      assert.match(
        refused.status === "not_stored" ? refused.reason : "",
        /held\.json\.lock was held by another/,
      );
      const patient = allowlistAt(file, { lockWaitMs: 20_000 }).add(key(), null);
      const gone = exitCode(holder);
      holder.kill("SIGKILL");
      await gone;
      assert.deepEqual(await patient, { status: "stored" });
    } finally {
      holder.kill("SIGKILL");
    }
  });
});
