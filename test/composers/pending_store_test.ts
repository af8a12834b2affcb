import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  existsSync,
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
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import type { StoredRecord } from "../../src/composers/composer.ts";
import { exactInstant } from "../../src/composers/stored.ts";
import { loadPending } from "../../src/composers/pending_load.ts";
import { openPendingFile } from "../../src/composers/pending_store.ts";
import { pendingId } from "../../src/composers/stored.ts";

const folder = mkdtempSync(join(tmpdir(), "reyn-pending-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => join(folder, String(++count), "state", "composer_pending.json");

function armed(key: string, at = 1_700_000_000_123.25): { id: string; record: StoredRecord } {
  const event = {
    id: `e-${key}`,
    kind: "builtin:lifecycle:turn_start",
    payload: { key, n: null },
    chain_id: null,
    at,
  };
  return {
    id: pendingId("d", key),
    record: {
      t: "pending",
      composer: "d",
      op: "deadline",
      key,
      created_at: at,
      last_at: at,
      events: [event],
    },
  };
}

const load = (path: string) => loadPending(path, { now: 0, opOf: () => "deadline" });

function open(path: string, failures: string[] = [], labels: string[] = []) {
  return openPendingFile({
    path,
    found: load(path).records,
    ioClock: systemClock,
    onFailure: (reason) => void failures.push(reason),
    fault: (label) => void labels.push(label),
  });
}

describe("the file of pending records", () => {
  it("gives back what was saved, instants and keys exactly", async () => {
    const path = fresh();
    const store = open(path);
    const records = [armed("a"), armed('"odd"\n\u2028'), armed("__proto__", 12.5)];
    await store.save(records);
    assert.deepEqual(load(path), { records, damaged: [], setAside: null });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(path, "..")), ["composer_pending.json"]);
  });

  it("tells an instant as the same number before and after, however fine the clock", async () => {
    const path = fresh();
    const fine = Array.from({ length: 2000 }, (_, n) => 1796081131189 + n * 0.00083);
    const records = fine.map((at, n) => armed(`k${n}`, exactInstant(at)));
    await open(path).save(records);
    const read = load(path).records.map(({ record }) => record.t === "pending" ? record.created_at : NaN);
    const offset = 7_200_000.123;
    assert.deepEqual(read, fine.map(exactInstant));
    assert.deepEqual(read.map((at) => exactInstant((at - offset) + offset)), fine.map(exactInstant));
    assert.ok(fine.every((at) => Math.abs(exactInstant(at) - at) <= 0.006));
  });

  it("is not written before something is saved", async () => {
    const path = fresh();
    const store = open(path);
    await store.save([{ id: "nothing", record: null }]);
    await store.close();
    assert.equal(existsSync(path), false);
  });

  it("keeps what it found, replaces and forgets", async () => {
    const path = fresh();
    await open(path).save([armed("a"), armed("b"), armed("c")]);
    const store = open(path);
    await store.save([armed("b", 99), { id: pendingId("d", "c"), record: null }]);
    assert.deepEqual(load(path).records, [armed("a"), armed("b", 99)]);
  });

  it("shares one rewrite among what arrives together, and another among what comes meanwhile", async () => {
    const path = fresh();
    const labels: string[] = [];
    const store = open(path, [], labels);
    const first = Array.from({ length: 256 }, (_, n) => store.save([armed(`a${n}`)]));
    await Promise.all(first);
    assert.equal(labels.length, 2);
    const running = store.save([armed("b")]);
    await new Promise((resolve) => setTimeout(resolve, 0));
    await Promise.all([running, ...Array.from({ length: 256 }, (_, n) => store.save([armed(`c${n}`)]))]);
    assert.ok(labels.length <= 6, `${labels.length / 2} rewrites`);
    assert.equal(load(path).records.length, 513);
  });

  it("resolves only when the record is on disk", async () => {
    const path = fresh();
    const store = open(path);
    for (let n = 0; n < 20; n++) {
      await store.save([armed(`k${n}`)]);
      assert.equal(load(path).records.length, n + 1);
    }
  });

  it("rejects, tells once, and tries again when it cannot be written", async () => {
    const path = fresh();
    const place = join(path, "..", "..");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "state"), "in the way");
    const failures: string[] = [];
    const store = openPendingFile({
      path,
      found: [],
      ioClock: { ...systemClock, after: (_delay, callback) => systemClock.after(1, callback) },
      onFailure: (reason) => void failures.push(reason),
    });
    await assert.rejects(store.save([armed("a")]));
    await assert.rejects(store.save([armed("b")]));
    assert.equal(failures.length, 1);
    rmSync(join(place, "state"));
    while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5));
    await store.close();
    assert.deepEqual(load(path).records, [armed("a"), armed("b")]);
  });

  it("does not follow a link that stands where it writes", async () => {
    const path = fresh();
    mkdirSync(join(path, ".."), { recursive: true });
    const outside = join(folder, "outside");
    writeFileSync(outside, "mine");
    symlinkSync(outside, `${path}.new`);
    await open(path).save([armed("a")]);
    assert.equal(readFileSync(outside, "utf8"), "mine");
    assert.deepEqual(load(path).records, [armed("a")]);
  });

  it("keeps ten thousand records", async () => {
    const path = fresh();
    await open(path).save(Array.from({ length: 10_000 }, (_, n) => armed(`k${n}`)));
    assert.equal(load(path).records.length, 10_000);
  });
});

describe("reading it back", () => {
  const written = (text: string | Uint8Array) => {
    const path = fresh();
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    return path;
  };

  for (
    const [what, text] of [
      ["nothing", ""],
      ["half of it", '{"version":1,"records":[{"composer"'],
      ["another version", '{"version":2,"records":[]}'],
      ["a list", "[]"],
      ["no records", '{"version":1}'],
      ["bytes that are no text", new Uint8Array([0xc3, 0x28])],
    ] as const
  ) {
    it(`puts a file aside that holds ${what}, whole`, () => {
      const path = written(text);
      const { records, setAside } = load(path);
      assert.deepEqual(records, []);
      assert.equal(setAside?.path, `${path}.damaged-1970-01-01T00-00-00-000Z`);
      assert.deepEqual(new Uint8Array(readFileSync(setAside.path)), new Uint8Array(Buffer.from(text)));
      assert.equal(existsSync(path), false);
    });
  }

  it("leaves one bad record out and keeps the others", () => {
    const event = '{"id":"e","kind":"k","payload":{},"source":"builtin","chain_id":null,"emitted_at":1.5}';
    const good =
      `{"composer":"d","key":"a","record":{"events":[${event}],"matched_inputs":[],"seq_pos":0,"created_at":1.5,"last_at":1.5}}`;
    const bad =
      '{"composer":"d","key":"b","op":"deadline","state":"pending","record":{"events":[{}],"created_at":1}}';
    const { records, damaged } = load(written(`{"version":1,"records":[${good},${bad},7]}`));
    assert.deepEqual(records.map(({ record }) => [record.composer, record.op, record.key]), [[
      "d",
      "deadline",
      "a",
    ]]);
    assert.deepEqual(damaged, [{ composer: "d", key: "b" }, { composer: "?", key: "?" }]);
  });

  it("is not written any more once it is closed, for it may be another's then", async () => {
    const path = fresh();
    const first = openPendingFile({ path, found: [], ioClock: systemClock, onFailure() {} });
    await first.save([armed("a")]);
    await first.close();
    const second = openPendingFile({ path, found: [armed("a")], ioClock: systemClock, onFailure() {} });
    await second.save([armed("b")]);
    await first.save([{ id: armed("a").id, record: null }]);
    await first.close();
    assert.deepEqual(load(path).records.map(({ record }) => record.key), ["a", "b"]);
    await second.close();
  });

  it("does not follow a link, which is put aside", () => {
    const path = fresh();
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(written('{"version":1,"records":[]}'), path);
    assert.equal(load(path).setAside?.reason, "it is a symlink");
  });

  it("is refused where it cannot be read at all, and nothing is put aside", () => {
    const path = join(fresh(), "..", "file", "composer_pending.json");
    mkdirSync(join(path, "..", ".."), { recursive: true });
    writeFileSync(join(path, ".."), "");
    assert.throws(() => load(path), /E_STATE_IO|cannot be read: ENOTDIR/);
  });

  it("is nothing where there is no file", () => {
    assert.deepEqual(load(fresh()), { records: [], damaged: [], setAside: null });
  });
});
