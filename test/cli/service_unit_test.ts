import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { serviceUnit } from "../../src/cli/service_unit.ts";
import { ReynError } from "../../src/errors/reyn_error.ts";

const UNIT = { binary: "/usr/bin/reyn", controlDir: "/srv/agents", user: "agents", graceMs: 10_000 };
const line = (text: string, key: string) => text.split("\n").find((one) => one.startsWith(`${key}=`));

describe("a systemd unit", () => {
  it("starts this binary on this folder and knows how reyn stops", () => {
    const text = serviceUnit(UNIT);
    assert.equal(line(text, "ExecStart"), 'ExecStart=:"/usr/bin/reyn" -C "/srv/agents" serve');
    assert.equal(line(text, "WorkingDirectory"), "WorkingDirectory=/srv/agents");
    assert.equal(line(text, "User"), "User=agents");
    assert.equal(line(text, "TimeoutStopSec"), "TimeoutStopSec=20");
    assert.equal(line(text, "SuccessExitStatus"), "SuccessExitStatus=143");
    assert.equal(line(serviceUnit({ ...UNIT, user: undefined }), "User"), undefined);
  });

  it("has nothing that would break the sandboxes of hooks or the runtime", () => {
    const text = serviceUnit(UNIT);
    for (
      const key of [
        "MemoryDenyWriteExecute",
        "SystemCallFilter",
        "RestrictAddressFamilies",
        "RestrictNamespaces",
        "ProtectProc",
        "PrivateUsers",
      ]
    ) assert.equal(line(text, key), undefined, key);
  });

  it("does not hide a folder in /tmp from itself", () => {
    assert.equal(line(serviceUnit(UNIT), "PrivateTmp"), "PrivateTmp=yes");
    for (const controlDir of ["/tmp/x", "/var/tmp/x", "/tmp"]) {
      assert.equal(line(serviceUnit({ ...UNIT, controlDir }), "PrivateTmp"), undefined, controlDir);
    }
  });

  it("refuses a path that no unit can hold", () => {
    for (const controlDir of ["/srv/a\nExecStartPre=/bin/evil", "/srv/a ", "/srv/a\\", "/srv/\u0007"]) {
      assert.throws(() => serviceUnit({ ...UNIT, controlDir }), ReynError, JSON.stringify(controlDir));
    }
    for (const binary of ['/opt/a"b', "/opt/a'b", "/opt/a\\b"]) {
      assert.throws(() => serviceUnit({ ...UNIT, binary }), ReynError, binary);
    }
  });

  it(
    "is taken by systemd, odd paths and all, as it is meant",
    { skip: !existsSync("/usr/bin/systemd-analyze") },
    async () => {
      const root = await mkdtemp(join(tmpdir(), "reyn-unit-"));
      try {
        const odd = join(root, `a "b" $HOME %n \\x20 'c' #;é`);
        await mkdir(odd);
        const binary = join(root, "my $HOME %n #;é", "reyn");
        await mkdir(dirname(binary));
        await writeFile(binary, "#!/bin/sh\n");
        await chmod(binary, 0o755);
        const file = join(root, "reyn.service");
        await writeFile(file, serviceUnit({ binary, controlDir: odd, user: undefined, graceMs: 1000 }));
        const child = spawn("systemd-analyze", ["verify", "--man=no", "--recursive-errors=no", file], {
          stdio: ["ignore", "pipe", "pipe"],
        });
        let said = "";
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding("utf8").on("data", (text: string) => said += text);
        }
        const [code] = await once(child, "close");
        const about = said.split("\n").filter((one) => one.includes("reyn.service"));
        assert.deepEqual([code, about], [0, []], said);
      } finally {
        await rm(root, { recursive: true, force: true });
      }
    },
  );
});
