import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { humanMessage } from "../../src/session/messages.ts";
import { startTestServer, type TestServer, TOKENS, until } from "./harness.ts";

const HEAD = `Host: 127.0.0.1\r\nAuthorization: Bearer ${TOKENS.all}\r\n`;
const POST = `POST /api/sessions/main/messages HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`;

describe("what a client can hold a server up with", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(undefined, {
      headers: 1000,
      request: 3000,
      keepAlive: 500,
      unread: 3500,
      look: 50,
      connections: 120,
    });
  });
  after(() => server.close());

  it("is not a slow head, a slow body, or silence", async () => {
    const [head, body, silence, idle] = await Promise.all([
      server.raw("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:"),
      server.raw(`${POST}Content-Length: 100\r\n\r\n{"text`, 6000),
      server.raw(""),
      server.raw("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 5000),
    ]);
    assert.match(head.text, /^HTTP\/1\.1 408 /);
    assert.ok(head.closed && body.closed && silence.closed && idle.closed);
    assert.match(idle.text, /^HTTP\/1\.1 200 /);
    assert.doesNotMatch(body.text, /^HTTP\/1\.1 20/);
  });

  it("is not a large head or a request that is none", async () => {
    const big = await server.raw(
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
    );
    assert.match(big.text, /^HTTP\/1\.1 431 /);
    assert.match(big.text, /E_HTTP_TOO_LARGE/);
    const noise = await server.raw("\x16\x03\x01\x00garbage\r\n\r\n");
    assert.match(noise.text, /^HTTP\/1\.1 400 /);
  });

  it("is not a request that two readers would read in two ways", async () => {
    for (
      const [request, status] of [
        ["GET /healthz HTTP/1.1\r\n\r\n", 400],
        ["GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", 400],
        ["GET http://evil.example/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400],
        [`${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
        ["GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 421],
        [`GET /api/sessions HTTP/1.1\r\n${HEAD}Authorization: Bearer x\r\n\r\n`, 400],
        [`GET /${"a".repeat(5000)} HTTP/1.1\r\n${HEAD}\r\n`, 414],
      ] as const
    ) {
      const { text } = await server.raw(request);
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), request.slice(0, 60));
    }
  });

  it("does not lead out of the paths that there are", async () => {
    for (
      const path of [
        "/api/../healthz",
        "/api/%2e%2e/healthz",
        "//healthz",
        "/healthz/",
        "/HEALTHZ",
        "/healthz%00",
      ]
    ) {
      const { text } = await server.raw(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
      );
      assert.match(
        text,
        path.includes("/healthz") && path.startsWith("/api/") ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 404 /,
        path,
      );
    }
    const { text } = await server.raw(
      "GET /healthz/../api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    );
    assert.match(text, /^HTTP\/1\.1 401 /);
  });

  it("is not a body without end: it is refused, and the connection serves the next request", async () => {
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const chunked = `${
      POST.replace("sessions/main/messages", "gc")
    }Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { text } = await server.raw(`${chunked}${chunk.repeat(2)}0\r\n\r\n`, 6000);
    assert.match(text, /^HTTP\/1\.1 413 /);
    const endless = await server.raw(chunked + chunk.repeat(2), 6000);
    assert.match(endless.text, /^HTTP\/1\.1 4(08|13) /);
    const declared = await server.raw(`${POST}Content-Length: 99999999999\r\n\r\n{`, 400);
    assert.match(declared.text, /^HTTP\/1\.1 413 /);
    assert.equal((await server.fetch("/healthz")).status, 200);
  });

  it("is not many connections: those above the bound are closed, and when they go others come in", async () => {
    const open: Socket[] = [];
    let closed = 0;
    for (let index = 0; index < 200; index++) {
      const socket = connect(server.server.port, "127.0.0.1");
      socket.resume();
      socket.on("error", () => {});
      socket.on("close", () => closed += 1);
      open.push(socket);
    }
    await until(() => closed >= 80, "what is too many has been closed");
    await until(() => closed === 200, "what says nothing has been closed");
    assert.equal((await server.fetch("/healthz")).status, 200);
    for (const socket of open) socket.destroy();
  });

  /** Asks for eight MiB, and reads a piece every `everyMs`, or nothing for five seconds and then what is there. */
  async function readSlowly(everyMs: number | null): Promise<{ bytes: number; declared: number }> {
    const socket = connect(server.server.port, "127.0.0.1");
    socket.on("error", () => {});
    let closed = false;
    socket.once("close", () => closed = true);
    let bytes = 0;
    let head = "";
    socket.on("data", (part: Uint8Array) => {
      bytes += part.byteLength;
      if (head === "") head = String(part);
      if (everyMs === null) return;
      socket.pause();
      setTimeout(() => socket.resume(), everyMs);
    });
    socket.pause();
    socket.write(`GET /api/sessions/large HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    setTimeout(() => socket.resume(), everyMs ?? 5000);
    await until(() => closed, "the connection is closed", 20);
    const end = head.indexOf("\r\n\r\n") + 4;
    return {
      bytes: bytes - end,
      declared: Number(/content-length: (\d+)/i.exec(head)?.[1]),
    };
  }

  it("is not an answer that nobody reads; one that is read slowly arrives", async () => {
    const text = "x".repeat(7 * 1024 * 1024);
    await server.hosting.accept({ agent: "default", sid: "large" }, {
      ...humanMessage("m", text),
      wake: false,
    });
    const [none, slow] = await Promise.all([readSlowly(null), readSlowly(20)]);
    assert.ok(none.bytes < none.declared, "what nobody read was given up");
    assert.ok(slow.declared > text.length);
    assert.equal(slow.bytes, slow.declared);
  });

  it("puts on record what was refused, without repeating all of it", async () => {
    const answer = await server.fetch("/api/events?type=http_refused");
    const lines = (await answer.text()).trim().split("\n").map((line) =>
      JSON.parse(line) as { data: object }
    );
    const kinds = lines.map(({ data }) => JSON.stringify(data));
    assert.ok(kinds.includes('{"status":431,"code":"E_HTTP_TOO_LARGE","count":1}'));
    assert.ok(kinds.length < 15);
  });
});

describe("one who is answered while still sending", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  const MIB = 1024 * 1024;

  /** Sends nine MiB for longer than a second, whatever comes back, and a second request behind them. */
  async function sendSlowly(head: string): Promise<{ text: string; error: Error | undefined }> {
    let text = "";
    let error: Error | undefined;
    const socket = connect(server.server.port, "127.0.0.1");
    socket.on("data", (part) => text += part.toString());
    socket.on("error", (one) => error = one);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(head);
    for (let piece = 0; piece < 9; piece++) {
      socket.write("x".repeat(MIB));
      await new Promise((resolve) => setTimeout(resolve, 130));
    }
    socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    await closed;
    return { text, error };
  }

  it("is told of an answer's length without it, and asks on over the same connection", async () => {
    const { text } = await server.raw(
      "HEAD /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    const [head = "", rest = ""] = text.split(/\r\n\r\n(?=HTTP)/);
    assert.match(head, /^HTTP\/1\.1 200 [^]*content-length: 15/i);
    assert.match(rest, /^HTTP\/1\.1 200 [^]*\r\n\r\n\{"status":"ok"\}$/);
  });

  it("hears why, and may go on with the next request", async () => {
    const { text, error } = await sendSlowly(`${POST}Content-Length: ${9 * MIB}\r\n\r\n`);
    assert.equal(error, undefined);
    assert.match(text, /^HTTP\/1\.1 413 /);
    assert.match(text, /HTTP\/1\.1 200 /);
  });

  it("hears why it is not let in at all, and nothing more", async () => {
    const { text, error } = await sendSlowly(
      `POST /api/sessions/main/messages HTTP/1.1\r\nHost: evil.example\r\nContent-Length: ${9 * MIB}\r\n\r\n`,
    );
    assert.equal(error, undefined);
    assert.match(text, /^HTTP\/1\.1 421 /);
    assert.doesNotMatch(text, /HTTP\/1\.1 200 /);
  });

  it("leaves nothing behind on a connection that serves many", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = {
      authorization: `Bearer ${TOKENS.all}`,
      "content-type": "application/json",
    };
    for (let count = 0; count < 30; count++) {
      const large = count % 2 === 0;
      await new Promise<void>((resolve, reject) => {
        const out = request({
          port: server.server.port,
          method: "POST",
          path: "/api/sessions/main/messages",
          agent,
          headers,
        }, (answer) => {
          answer.resume().on("end", resolve);
          assert.equal(answer.statusCode, large ? 413 : 400);
        });
        out.on("error", reject);
        out.end(large ? "x".repeat(9 * MIB) : "{}");
      });
    }
    agent.destroy();
    process.off("warning", note);
    assert.deepEqual(warnings, []);
  });
});
