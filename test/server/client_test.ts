import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { connectServer } from "../../src/server/client.ts";

describe("the client of a server", () => {
  it("waits as long as it is told for one that freezes when it is asked, and in the middle of its answer", async () => {
    const dir = mkdtempSync(join(tmpdir(), "reyn-client-"));
    const state = join(dir, ".reyn", "state");
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const holder = { verb: "serve", pid: process.pid, startedAt: Date.now() };
    writeFileSync(join(state, "lock-holder.json"), JSON.stringify(holder));
    const server = createServer((request, response) => {
      if (request.url === "/healthz") response.end("{}");
      if (request.url === "/half") response.writeHead(200, { "content-length": "9" }).write("{");
    });
    try {
      server.listen(join(state, "control.sock"));
      await once(server, "listening");
      chmodSync(join(state, "control.sock"), 0o600);
      const client = await connectServer(dir, systemClock);
      assert.ok(client);
      const since = Date.now();
      await assert.rejects(client.get("/frozen", 200), { code: "E_SERVER_UNREACHABLE" });
      await assert.rejects(client.get("/half", 200), { code: "E_SERVER_UNREACHABLE" });
      assert.ok(Date.now() - since < 5000);
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(dir, { recursive: true });
    }
  });
});
