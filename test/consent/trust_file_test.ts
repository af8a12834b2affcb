import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, beforeEach, describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { openTrustFile } from "../../src/consent/trust_file.ts";
import type { TrustRecord } from "../../src/consent/trust_record.ts";
import { exitCode, HEX, NOON, runScript } from "./support.ts";

function record(folder: string, key = "model.command"): TrustRecord {
  const keys = [{ file: "reyn.yaml", key, sha256: HEX("a"), code: { "/srv/agent": HEX("b") } }];
  return { folder, trustedAt: new Date(NOON).toISOString(), keys };
}

describe("the record of what is trusted", () => {
  let root = "";
  let file = "";
  let count = 0;
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), "reyn-trust-"));
  });
  after(() => rmSync(root, { recursive: true }));
  beforeEach(() => {
    file = path.join(root, String(++count), ".reyn/trust.json");
  });

  const open = (uid?: number) =>
    openTrustFile({ path: file, clock: virtualClock(NOON), ...uid === undefined ? {} : { uid } });
  const put = (text: string, mode = 0o600) => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  };
  const codes = () => open().problems().map(({ code }) => code);

  it("that does not exist trusts nothing, is no problem and is not made", () => {
    assert.equal(open().find("/srv/a"), undefined);
    assert.deepEqual(codes(), []);
    assert.equal(existsSync(path.dirname(file)), false);
  });

  it("keeps one record a folder, in a file for its owner alone", async () => {
    for (const one of [record("/srv/a"), record("/srv/b"), record("/srv/a", "resume")]) {
      assert.deepEqual(await open().store(one), { status: "stored" });
    }
    assert.deepEqual(open().find("/srv/a"), record("/srv/a", "resume"));
    assert.deepEqual(open().find("/srv/b"), record("/srv/b"));
    for (const other of ["/srv", "/srv/a/", "/srv/ab", "/SRV/a"]) assert.equal(open().find(other), undefined);
    assert.equal(statSync(file).mode & 0o7777, 0o600);
    assert.equal(statSync(path.dirname(file)).mode & 0o7777, 0o700);
    assert.deepEqual(readdirSync(path.dirname(file)).sort(), ["trust.json", "trust.json.lock"]);
  });

  it("takes back one folder, and says whether there was anything", async () => {
    await open().store(record("/srv/a"));
    await open().store(record("/srv/b"));
    assert.deepEqual(await open().revoke("/srv/a"), { status: "stored", revoked: true });
    assert.deepEqual(await open().revoke("/srv/a"), { status: "stored", revoked: false });
    assert.equal(open().find("/srv/a"), undefined);
    assert.deepEqual(open().find("/srv/b"), record("/srv/b"));
  });

  it("trusts nothing and keeps nothing when others could have written or read it", async () => {
    await open().store(record("/srv/a"));
    for (const mode of [0o666, 0o660, 0o622, 0o644, 0o700]) {
      chmodSync(file, mode);
      assert.equal(open().find("/srv/a"), undefined, mode.toString(8));
      assert.deepEqual(codes(), ["E_TRUST_UNSAFE"]);
      assert.equal((await open().store(record("/srv/b"))).status, "not_stored");
    }
    chmodSync(file, 0o600);
    assert.equal(open((process.geteuid?.() ?? 0) + 1).find("/srv/a"), undefined);
    assert.deepEqual(open().find("/srv/a"), record("/srv/a"));
  });

  it("trusts nothing when it belongs to another", { skip: process.geteuid?.() !== 0 }, async () => {
    await open().store(record("/srv/a"));
    chownSync(file, 1234, 1234);
    assert.equal(open().find("/srv/a"), undefined);
    assert.match(open().problems()[0]?.message ?? "", /it belongs to uid 1234, not to 0/);
  });

  it("trusts nothing when it is no file", () => {
    mkdirSync(file, { recursive: true });
    assert.equal(open().find("/srv/a"), undefined);
    assert.deepEqual(codes(), ["E_TRUST_UNSAFE"]);
  });

  it("may be a link, which stays one", async () => {
    const real = path.join(root, "real.json");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(real, "[]", { mode: 0o600 });
    symlinkSync(real, file);
    assert.deepEqual(await open().store(record("/srv/a")), { status: "stored" });
    assert.ok(lstatSync(file).isSymbolicLink());
    assert.deepEqual(open().find("/srv/a"), record("/srv/a"));
    chmodSync(real, 0o666);
    assert.equal(open().find("/srv/a"), undefined);
    rmSync(real);
    rmSync(`${real}.lock`);
  });

  it("that is damaged trusts nothing, and is set aside by the next trust", async () => {
    for (const text of ["{", "{}", '"x"', "\u0000", '[{"folder": "/srv/a"']) {
      put(text);
      const trust = open();
      assert.equal(trust.find("/srv/a"), undefined);
      assert.deepEqual(codes(), ["E_TRUST_DAMAGED"]);
      assert.deepEqual(await trust.store(record("/srv/a")), { status: "stored" });
      assert.deepEqual(trust.find("/srv/a"), record("/srv/a"));
      assert.match(
        trust.problems()[0]?.message ?? "",
        /was damaged .*; it is now .*trust\.json\.damaged-2026/,
      );
      const aside = readdirSync(path.dirname(file)).find((name) => name.includes("damaged")) ?? "";
      assert.equal(readFileSync(path.join(path.dirname(file), aside), "utf8"), text);
      rmSync(path.dirname(file), { recursive: true });
    }
  });

  it("leaves entries that it does not know as they are, and they trust nothing", async () => {
    const own = { folder: "/srv/a", trusted_at: "2026-11-30T12:00:00.000Z", keys: [] };
    const odd = [
      { ...own, more: true },
      { ...own, keys: [{ file: "reyn.yaml", key: "resume" }] },
      { ...own, folder: "srv/a" },
      { ...own, trusted_at: "yesterday" },
      "/srv/a",
      null,
    ];
    for (const element of odd) {
      put(JSON.stringify([element]));
      assert.equal(open().find("/srv/a"), undefined, JSON.stringify(element));
      assert.deepEqual(codes(), ["W_TRUST_ENTRY"]);
      await open().store(record("/srv/b"));
      assert.deepEqual(JSON.parse(readFileSync(file, "utf8"))[0], element);
    }
  });

  it("stores nothing where it cannot be written, and says why", async () => {
    file = path.join(root, "a file", "trust.json");
    writeFileSync(path.dirname(file), "");
    const stored = await open().store(record("/srv/a"));
    assert.match(stored.status === "not_stored" ? stored.reason : "", /trust\.json/);
  });

  it("loses nothing of processes that trust at once", async () => {
    const names = ["a", "b", "c"];
    const children = names.map((name) => runScript("trust_writer.ts", file, name, "10"));
    assert.deepEqual(await Promise.all(children.map(exitCode)), [0, 0, 0]);
    for (const name of names) {
      for (let i = 0; i < 10; i++) assert.ok(open().find(`/srv/${name}/${i}`), `${name} ${i}`);
    }
  });
});
