import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { readEmbedded } from "../../scripts/helper/embedded.ts";
import { sourceDigest, TARGETS } from "../../scripts/helper/toolchain.ts";
import { digestOf, type HelperBytes, loadHelper, verify } from "../../src/sandbox/linux/helper_bytes.ts";
import { readReport } from "../../src/sandbox/linux/helper_report.ts";
import { installHelper } from "../../src/sandbox/linux/install_helper.ts";
import { makePlace, type Place } from "./helpers.ts";

describe("the embedded helper", () => {
  it("is there for both architectures, with its sha256, built from the source that is here", async () => {
    const digest = await sourceDigest();
    for (const target of TARGETS) {
      const embedded = await readEmbedded(target);
      assert.equal(embedded.sourceDigest, digest, `${target.name}: run scripts/helper.ts`);
      assert.equal(digestOf(embedded.bytes), embedded.sha256);
    }
  });

  it("is a static program for its machine", async () => {
    for (const [arch, machine] of [["x64", 62], ["arm64", 183]] as const) {
      const loaded = await loadHelper(arch);
      assert.ok(loaded.ok);
      const view = new DataView(loaded.helper.bytes.buffer, loaded.helper.bytes.byteOffset);
      assert.equal(view.getUint32(0), 0x7f454c46);
      assert.equal(view.getUint16(18, true), machine);
      // No PT_INTERP (3) and no PT_DYNAMIC (2); its stack is not executable.
      const headers = Array.from(
        { length: view.getUint16(56, true) },
        (_, i) => Number(view.getBigUint64(32, true)) + i * 56,
      );
      const types = headers.map((at) => view.getUint32(at, true));
      assert.ok(!types.includes(3) && !types.includes(2), types.join());
      const stack = headers.find((at) => view.getUint32(at, true) === 0x6474e551);
      assert.ok(stack !== undefined && (view.getUint32(stack + 4, true) & 1) === 0);
    }
  });

  it("is refused for an unknown architecture, and with a wrong digest", async () => {
    assert.deepEqual(await loadHelper("riscv64"), {
      ok: false,
      reason: "there is no helper for the architecture riscv64",
    });
    const wrong = verify({ bytes: new Uint8Array([1]), sha256: "0".repeat(64) });
    assert.ok(!wrong.ok && wrong.reason.includes("sha256"));
  });
});

describe("installing the helper", () => {
  let place: Place;
  let helper: HelperBytes;
  let count = 0;
  before(async () => {
    place = makePlace();
    const bytes = new TextEncoder().encode("#!/bin/sh\necho the helper\n");
    helper = { bytes, sha256: digestOf(bytes) };
  });
  after(() => place.remove());
  const folder = () => path.join(place.root, `helper-${++count}`);
  const install = (where: string) => {
    const result = installHelper(helper, where);
    assert.ok(result.ok, result.ok ? "" : result.reason);
    result.installed.close();
    return result.installed.file;
  };

  it("writes it once, for its owner alone", () => {
    const where = folder();
    const file = install(where);
    assert.equal(statSync(where).mode & 0o777, 0o700);
    assert.equal(statSync(file).mode & 0o777, 0o500);
    const { ino } = statSync(file);
    assert.equal(install(where), file);
    assert.equal(statSync(file).ino, ino);
    assert.deepEqual(readdirSync(where), [path.basename(file)]);
  });

  it("names the very file that was checked, also when another takes its place", () => {
    const where = folder();
    const result = installHelper(helper, where);
    assert.ok(result.ok);
    const { file, executable, close } = result.installed;
    writeFileSync(`${file}.new`, "#!/bin/sh\necho evil\n", { mode: 0o700 });
    chmodSync(file, 0o700);
    writeFileSync(path.join(where, "moved"), "");
    assert.deepEqual(new Uint8Array(readFileSync(executable)), helper.bytes);
    close();
    assert.ok(!existsSync(executable));
  });

  it("replaces a file of other bytes, other rights, or a symlink", () => {
    const where = folder();
    const file = install(where);
    const good = () => assert.deepEqual(new Uint8Array(readFileSync(install(where))), helper.bytes);
    chmodSync(file, 0o700);
    truncateSync(file, 3);
    good();
    chmodSync(file, 0o777);
    install(where);
    assert.equal(statSync(file).mode & 0o777, 0o500);
    writeFileSync(path.join(where, "target"), helper.bytes, { mode: 0o500 });
    chmodSync(where, 0o700);
    symlinkSync("target", path.join(where, "link"));
    good();
  });

  it("refuses a folder that is open to others, no folder, or a symlink", () => {
    const open = folder();
    mkdirSync(open);
    chmodSync(open, 0o755);
    const link = folder();
    symlinkSync(place.home, link);
    for (
      const [where, text] of [[open, "0700"], [place.write("file"), "EEXIST"], [
        link,
        "not a folder",
      ]] as const
    ) {
      const result = installHelper(helper, where);
      assert.ok(!result.ok && result.reason.includes(text), result.ok ? "installed" : result.reason);
    }
  });

  it("refuses a folder of another account", { skip: process.getuid?.() !== 0 }, () => {
    const where = folder();
    mkdirSync(where, { mode: 0o700 });
    chownSync(where, 12345, 12345);
    const result = installHelper(helper, where);
    assert.ok(!result.ok && result.reason.includes("another account"));
  });
});

describe("reading the helper's report", () => {
  const started = '{"v":1,"started":7}\n';
  const end =
    `{"v":1,"ok":true,"exit":0,"signal":0,"timed_out":0,"terminated":0,"left_killed":0,"abi":7,"rules":9,"kept":0,` +
    `"counted":1,"setup_us":5,"forks":0,"denied":{"fork":0,"fork_budget":0,"inet":0,"unix":0,"socket":0,` +
    `"metadata":0,"listing":0,"other":0}}\n`;

  it("reads what it writes", () => {
    assert.equal(readReport(started + end)?.end?.abi, 7);
    assert.deepEqual(readReport(started), { started: 7 });
    assert.deepEqual(readReport(""), {});
    const refusal = readReport('{"v":1,"ok":false,"stage":"execve","errno":2,"path":"/x"}\n')?.refusal;
    assert.deepEqual(refusal && [refusal.stage, refusal.errno], ["execve", 2]);
  });

  it("believes nothing else", () => {
    for (
      const text of [
        "hello\n",
        end,
        started + started,
        started + end + end,
        started + '{"v":2,"started":7}\n',
      ]
    ) {
      assert.equal(readReport(text), null, text);
    }
  });
});
