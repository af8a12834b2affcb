import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hosts, serveRaw, until } from "./server.ts";
import { body, fetcher, openWorld, refusal } from "./world.ts";

const guarded = fetcher();

describe("limits of a guarded fetch", () => {
  const world = openWorld();
  it("end a body that is too large, announced or not", async () => {
    for (const path of ["/big", "/announced"]) {
      const result = await world.ask(path, { maxBodyBytes: 1000 });
      assert.ok(result.outcome === "too_large", JSON.stringify(result));
      assert.equal(result.what, "body");
    }
    assert.equal(body(await world.ask("/big", { maxBodyBytes: 100_000 })).length, 100_000);
  });

  it("end headers that are too large", async () => {
    const result = await world.ask("/headers");
    assert.ok(result.outcome === "too_large", JSON.stringify(result));
    assert.equal(result.what, "headers");
  });

  for (const path of ["/silent", "/drip"]) {
    it(`end an answer that is not whole in time: ${path}`, async () => {
      assert.ok(await until(() => world.server.open() === 0));
      const result = await world.ask(path, { timeoutMs: 150 });
      assert.equal(result.outcome, "timeout");
      assert.ok(await until(() => world.server.open() === 0), "the connection is gone");
    });
  }

  it("count redirects and the lookup into the time", async () => {
    const slow = fetcher({ resolve: () => new Promise(() => {}) });
    assert.equal((await slow({ url: world.at("/"), allow: world.allow, timeoutMs: 50 })).outcome, "timeout");
  });

  it("end a request that sends its headers byte by byte for ever", async () => {
    const dripping = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("X"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    try {
      const url = `http://127.0.0.1:${dripping.port}/`;
      const result = await guarded({ url, allow: hosts("127.0.0.1"), timeoutMs: 150 });
      assert.equal(result.outcome, "timeout");
      assert.ok(await until(() => dripping.open() === 0));
    } finally {
      await dripping.close();
    }
  });

  it("end it when the caller gives up, before and while it runs", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    for (let i = 0; i < 2; i += 1) {
      const result = await world.ask("/silent", { signal: stop.signal });
      assert.ok(result.outcome === "failed");
      assert.equal(result.code, "aborted");
    }
    assert.ok(await until(() => world.server.open() === 0));
  });

  it("refuse what is over the number that may run at once", async () => {
    const one = fetcher({ atOnce: 1 });
    const first = one({ url: world.at("/silent"), allow: world.allow, timeoutMs: 100 });
    assert.equal(refusal(await one({ url: world.at("/"), allow: world.allow })), "busy");
    assert.equal((await first).outcome, "timeout");
    assert.equal((await one({ url: world.at("/"), allow: world.allow })).outcome, "ok");
  });

  describe("answers that are no HTTP", () => {
    for (
      const [what, bytes] of [
        ["is another protocol", "220 mail.test ESMTP\r\n"],
        [
          "switches protocols",
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        ],
        ["has two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
        ["is empty", ""],
      ] as const
    ) {
      it(`fail when the answer ${what}`, async () => {
        const raw = await serveRaw((socket) => {
          socket.once("data", () => socket.end(bytes));
        });
        try {
          const result = await guarded({
            url: `http://127.0.0.1:${raw.port}/`,
            allow: hosts("127.0.0.1"),
            timeoutMs: 2000,
          });
          assert.ok(result.outcome === "failed", JSON.stringify(result));
          assert.equal(result.code, "protocol");
        } finally {
          await raw.close();
        }
      });
    }

    it("fail when the answer breaks off", async () => {
      const result = await world.ask("/broken");
      assert.ok(result.outcome === "failed", JSON.stringify(result));
      assert.equal(result.code, "protocol");
    });
  });
});
