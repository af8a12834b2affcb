import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { type ContentHashes, contentHashes } from "../../src/consent/content_hash.ts";

const sha = (text: string) => createHash("sha256").update(text).digest("hex");
/** In whole seconds, so that every runtime sets and tells it exactly. */
const TIME = new Date(Date.UTC(2026, 0, 1));
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** As consent keys do it: what is known, else read. */
async function content(hashes: ContentHashes, file: string) {
  return hashes.known(file) ?? await hashes.read(file);
}

describe("contentHashes()", () => {
  let folder = "";
  let settled = "";
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "reyn-hash-"));
    settled = path.join(folder, "settled");
    writeFileSync(settled, "one");
    utimesSync(settled, TIME, TIME);
    await sleep(3100);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("remembers a file that stood still, and sees a content swapped with size and modification time kept", async () => {
    const hashes = contentHashes();
    assert.equal(hashes.known(settled), undefined);
    assert.deepEqual(await hashes.read(settled), { status: "file", sha256: sha("one"), size: 3 });
    assert.deepEqual(hashes.known(settled), { status: "file", sha256: sha("one"), size: 3 });
    writeFileSync(settled, "two");
    utimesSync(settled, TIME, TIME);
    assert.equal(statSync(settled).mtimeMs, TIME.getTime());
    assert.equal(hashes.known(settled), undefined);
    assert.deepEqual(await content(hashes, settled), { status: "file", sha256: sha("two"), size: 3 });
  });

  it("never remembers a file that has only just changed, however often its content is swapped", async () => {
    const hashes = contentHashes();
    const file = path.join(folder, "busy");
    for (let i = 10; i < 30; i++) {
      writeFileSync(file, String(i));
      utimesSync(file, TIME, TIME);
      assert.deepEqual(await content(hashes, file), { status: "file", sha256: sha(String(i)), size: 2 });
    }
  });

  it("tells only regular files, through links too", async () => {
    const hashes = contentHashes();
    const file = path.join(folder, "plain");
    writeFileSync(file, "x");
    symlinkSync("plain", path.join(folder, "link"));
    symlinkSync("nowhere", path.join(folder, "dangling"));
    symlinkSync("loop", path.join(folder, "loop"));
    assert.deepEqual(await content(hashes, path.join(folder, "link")), {
      status: "file",
      sha256: sha("x"),
      size: 1,
    });
    const others = [
      folder,
      "/dev/null",
      `${folder}/none`,
      `${file}/below`,
      `${folder}/dangling`,
      `${folder}/loop`,
    ];
    for (const other of others) assert.deepEqual(await content(hashes, other), { status: "none" }, other);
  });

  it("refuses what is larger than it reads, known or not", async () => {
    const file = path.join(folder, "large");
    writeFileSync(file, "12345");
    const hashes = contentHashes({ maxFileBytes: 4 });
    const refused = { status: "refused", reason: "it is larger than 4 bytes" };
    assert.deepEqual(hashes.known(file), refused);
    assert.deepEqual(await hashes.read(file), refused);
  });

  it("refuses what takes too long to read", async () => {
    const file = path.join(folder, "slow");
    writeFileSync(file, "12345");
    const found = await contentHashes({ maxReadMs: -1 }).read(file);
    assert.deepEqual(found, { status: "refused", reason: "reading it takes too long" });
  });

  it("lets other work run while it reads a large file", async () => {
    const file = path.join(folder, "big");
    writeFileSync(file, new Uint8Array(8 * 1024 * 1024));
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await contentHashes().read(file);
    clearInterval(timer);
    assert.ok(turns >= 2, `${turns} turns`);
  });

  it("reads a file of ours that cannot be read as refused", async () => {
    if (process.getuid?.() === 0) return;
    const file = path.join(folder, "secret");
    writeFileSync(file, "x");
    chmodSync(file, 0);
    assert.deepEqual(await content(contentHashes(), file), {
      status: "refused",
      reason: "it cannot be read (EACCES)",
    });
  });
});
