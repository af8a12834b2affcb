import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect } from "node:net";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { HookServer, LifecycleHooks, type SessionSpawn } from "../../sdk.ts";

class Polite extends LifecycleHooks {
  override session_spawn(context: SessionSpawn) {
    return { prompt: `${context.prompt} on ${context.work_item.repository}, please` };
  }
}

function python(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("python3", args, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk: Uint8Array) => (output += new TextDecoder().decode(chunk)));
    child.on("error", reject);
    child.on(
      "close",
      (code) => code === 0 ? resolve(output) : reject(new Error(`python3 ended with ${code}`)),
    );
  });
}

describe("HookServer", () => {
  const server = new HookServer(new Polite(), { port: 0, tokenEnv: "REYN_T_SERVER", maxBodyBytes: 2000 });
  before(async () => {
    process.env["REYN_T_SERVER"] = "right";
    await server.start();
  });
  after(async () => {
    delete process.env["REYN_T_SERVER"];
    await server.stop();
    await server.finished;
  });

  it("speaks with a client of another language", async () => {
    const client = fileURLToPath(new URL("./wire_client.py", import.meta.url));
    const result: unknown = JSON.parse(await python([client, server.url, "right"]));
    assert.deepEqual(result, {
      health: [200, { ok: true, points: ["session_spawn"] }],
      asked: [200, { jsonrpc: "2.0", id: 7, result: { prompt: "pé on o/r, please" } }],
      passed: [200, { jsonrpc: "2.0", id: 7, result: null }],
      unknown: [200, {
        jsonrpc: "2.0",
        id: 7,
        error: { code: -32601, message: "the method is no decision point" },
      }],
      broken: [200, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "the body is not JSON" } }],
      no_token: [401, null],
      wrong_token: [401, null],
      too_large: [413, null],
    });
  });

  it("survives a client that goes away in the middle of its request", async () => {
    const { host, port } = server.address;
    for (
      const text of ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf", "nonsense\r\n\r\n"]
    ) {
      const socket = connect(port, host);
      await new Promise<void>((resolve) => socket.write(text, () => resolve()));
      socket.destroy();
    }
    const response = await fetch(`${server.url}health`);
    assert.equal(response.status, 200);
    await response.body?.cancel();
  });

  it("refuses to start twice, and stops twice", async () => {
    await assert.rejects(server.start(), /started already/);
    const other = new HookServer(new Polite(), { port: 0 });
    assert.throws(() => other.url, /not started/);
    await other.stop();
    await assert.rejects(new HookServer(new Polite(), { port: server.address.port }).start());
  });
});
