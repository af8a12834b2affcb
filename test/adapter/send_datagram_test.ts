import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, describe, it } from "node:test";
import { datagramSender } from "../../src/adapter/send_datagram.ts";

/** No runtime can listen for Unix datagrams, so Python does: it tells the sender's process and the text of each, as JSON. */
const LISTENER = `
import json, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
a = sys.argv[1]
s.bind("\\0" + a[1:] if a[0] == "@" else a)
print("listening", flush=True)
while True:
    data, sent, _, _ = s.recvmsg(65536, 256)
    print(json.dumps([struct.unpack("3i", sent[0][2])[0], data.decode()]), flush=True)
`;

const listeners: ChildProcess[] = [];
afterEach(() => {
  for (const one of listeners.splice(0)) one.kill("SIGKILL");
});

async function listen(address: string): Promise<AsyncIterator<string>> {
  const child = spawn("python3", ["-c", LISTENER, address], { stdio: ["ignore", "pipe", "inherit"] });
  listeners.push(child);
  const lines = linesOf(child);
  assert.equal((await lines.next()).value, "listening");
  return lines;
}

async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of child.stdout ?? []) {
    const lines = (rest + String(piece)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

describe("a Unix datagram", { skip: process.platform !== "linux" }, () => {
  it("comes from this very process, at a path and at an abstract name", async () => {
    const dir = await mkdtemp(join(tmpdir(), "reyn-datagram-"));
    try {
      const send = await datagramSender();
      for (const address of [join(dir, "socket"), `@reyn-test-${process.pid}`]) {
        const told = await listen(address);
        send(address, "READY=1\nSTATUS=grüß\n");
        assert.deepEqual(JSON.parse((await told.next()).value), [process.pid, "READY=1\nSTATUS=grüß\n"]);
      }
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it("is refused where nobody listens and where no socket can be", async () => {
    const send = await datagramSender();
    assert.throws(() => send("/nowhere/at/all", "x"), /nobody takes datagrams/);
    assert.throws(() => send("relative", "x"), /not the address/);
    assert.throws(() => send(`/${"a".repeat(200)}`, "x"), /not the address/);
  });

  it("leaves no descriptor behind", async () => {
    const send = await datagramSender();
    const before = readdirSync("/proc/self/fd").length;
    for (let n = 0; n < 50; n++) assert.throws(() => send("/nowhere/at/all", "x"));
    assert.ok(readdirSync("/proc/self/fd").length <= before + 2);
  });

  it("does not wait for a reader that has stopped", async () => {
    const address = `@reyn-test-full-${process.pid}`;
    await listen(address);
    const [child] = listeners;
    child?.kill("SIGSTOP");
    const send = await datagramSender();
    assert.throws(() => {
      for (let n = 0; n < 10_000; n++) send(address, "x".repeat(1000));
    });
  });
});
