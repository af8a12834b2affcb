import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, describe, it } from "node:test";
import { MAX_FILE_BYTES, readTextFile } from "../../src/config/read_file.ts";
import { formatFinding } from "../../src/errors/finding.ts";

const dir = mkdtempSync(join(tmpdir(), "reyn-read-"));
after(() => rmSync(dir, { recursive: true, force: true }));

function read(name: string): string {
  const result = readTextFile(join(dir, name), name);
  if (result.state === "failed") return formatFinding(result.finding);
  return result.state === "text" ? `text ${JSON.stringify(result.text)}` : result.state;
}

describe("reading a configuration file", () => {
  it("gives its text and the hash of its bytes", () => {
    writeFileSync(join(dir, "plain"), "grüße\n");
    assert.equal(read("plain"), 'text "grüße\\n"');
    writeFileSync(join(dir, "abc"), "abc");
    const result = readTextFile(join(dir, "abc"), "abc");
    assert.ok(result.state === "text");
    assert.equal(result.sha256(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  it("drops a byte order mark", () => {
    writeFileSync(join(dir, "bom"), new Uint8Array([0xef, 0xbb, 0xbf, 0x61]));
    assert.equal(read("bom"), 'text "a"');
  });

  it("tells an absent file from one that cannot be read", () => {
    assert.equal(read("nothing"), "absent");
    assert.equal(read("no/such/folder"), "absent");
    symlinkSync("nowhere", join(dir, "dangling"));
    assert.equal(read("dangling"), "dangling:1:1 E_FILE_UNREADABLE is a symlink that leads nowhere");
    symlinkSync("loop", join(dir, "loop"));
    assert.equal(read("loop"), "loop:1:1 E_FILE_UNREADABLE cannot be read: too many symlinks");
    assert.match(read("plain/below"), /E_FILE_UNREADABLE cannot be read: a part of its path is not a folder/);
  });

  it("names a file that it may not read", { skip: process.getuid?.() === 0 }, () => {
    writeFileSync(join(dir, "secret"), "a: 1");
    chmodSync(join(dir, "secret"), 0);
    assert.equal(read("secret"), "secret:1:1 E_FILE_UNREADABLE cannot be read: permission denied");
  });

  it("follows symlinks", () => {
    writeFileSync(join(dir, "target"), "x");
    symlinkSync("target", join(dir, "link"));
    assert.equal(read("link"), 'text "x"');
  });

  it("refuses what is not a file, without waiting", async () => {
    mkdirSync(join(dir, "folder"));
    assert.equal(read("folder"), "folder:1:1 E_FILE_NOT_REGULAR is a folder, not a file");
    await once(spawn("mkfifo", [join(dir, "fifo")]), "close");
    assert.equal(read("fifo"), "fifo:1:1 E_FILE_NOT_REGULAR is a FIFO, not a file");
    symlinkSync("/dev/zero", join(dir, "zero"));
    assert.equal(read("zero"), "zero:1:1 E_FILE_NOT_REGULAR is a device, not a file");
    const server = createServer().listen(join(dir, "socket"));
    await once(server, "listening");
    assert.equal(read("socket"), "socket:1:1 E_FILE_NOT_REGULAR is a socket, not a file");
    server.close();
  });

  it("reads up to the bound and not beyond", () => {
    writeFileSync(join(dir, "full"), "x".repeat(MAX_FILE_BYTES));
    assert.equal(read("full").length, MAX_FILE_BYTES + 'text ""'.length);
    writeFileSync(join(dir, "over"), "x".repeat(MAX_FILE_BYTES + 1));
    assert.equal(read("over"), "over:1:1 E_FILE_TOO_LARGE is larger than 1048576 bytes");
  });

  it("names the line where a file stops being UTF-8", () => {
    writeFileSync(join(dir, "latin"), new Uint8Array([0x61, 0x0a, 0x62, 0x0a, 0xe4, 0x0a]));
    assert.equal(read("latin"), "latin:3:1 E_FILE_ENCODING is not UTF-8 text");
    writeFileSync(join(dir, "utf16"), new Uint8Array([0xff, 0xfe, 0x61, 0x00]));
    assert.equal(read("utf16"), "utf16:1:1 E_FILE_ENCODING is not UTF-8 text");
  });
});
