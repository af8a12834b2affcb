import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../src/clock/clock.ts";
import {
  createGuardedFetch,
  type EgressRequest,
  type GuardedFetchOptions,
} from "../../src/egress/guarded_fetch.ts";
import type { EgressResult } from "../../src/egress/result.ts";
import { CERTIFICATE } from "./certificate.ts";
import { hosts, serve, serveRaw, type TestServer, until } from "./server.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "name.test": ["127.0.0.1"],
  "other.test": ["127.0.0.1"],
  "private.test": ["10.1.2.3"],
  "mixed.test": ["93.184.216.34", "127.0.0.1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "metadata.test": ["169.254.169.254"],
  "scoped.test": ["fe80::1%2"],
  "nothing.test": [],
};

function fetcher(options: Partial<GuardedFetchOptions> = {}) {
  return createGuardedFetch({
    clock: systemClock,
    resolve: (name) => {
      const found = NAMES[name];
      return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
    },
    ca: CERTIFICATE,
    ...options,
  });
}

const guarded = fetcher();

function body(result: EgressResult): string {
  assert.equal(result.outcome, "ok", JSON.stringify(result));
  return result.outcome === "ok" ? new TextDecoder().decode(result.body) : "";
}

function refusal(result: EgressResult): string {
  return result.outcome === "refused" ? result.reason : `${result.outcome}: ${JSON.stringify(result)}`;
}

describe("createGuardedFetch", () => {
  const seen: { line: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  let server: TestServer;
  let secure: TestServer;
  let allow: ReturnType<typeof hosts>;
  const at = (path: string, host = "name.test") => `http://${host}:${server.port}${path}`;
  const ask = (path: string, rest: Partial<EgressRequest> = {}) => guarded({ url: at(path), allow, ...rest });

  before(async () => {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const path = request.url ?? "";
        seen.push({
          line: `${request.method} ${path}`,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        });
        const status = Number(/^\/(30\d)/.exec(path)?.[1] ?? 0);
        if (status > 0) {
          const to = path === "/302loop" ? path : decodeURIComponent(/to=(.*)$/.exec(path)?.[1] ?? "/end");
          response.writeHead(status, { location: to }).end("moved");
        } else if (path === "/big") response.writeHead(200).end("x".repeat(100_000));
        else if (path === "/announced") {
          response.writeHead(200, { "content-length": "100000000" });
          response.write("x");
        } else if (path === "/headers") response.writeHead(200, { "x-big": "x".repeat(60_000) }).end();
        else if (path === "/drip") {
          response.writeHead(200);
          const timer = setInterval(() => response.write("x"), 20);
          request.socket.on("close", () => clearInterval(timer));
        } else if (path === "/silent") {
          // Never answers.
        } else if (path === "/broken") {
          response.writeHead(200, { "content-length": "100" });
          response.write("half");
          setTimeout(() => request.socket.destroy(), 20);
        } else if (path === "/teapot") {
          response.writeHead(418, [["X-Two", "a"], ["X-Two", "b"]].flat()).end("short and stout");
        } else response.end(`${request.method} ${request.headers.host}`);
      });
    };
    server = await serve(listener);
    secure = await serve(listener, { tls: true });
    const { port } = server;
    allow = hosts("name.test", "other.test", `127.0.0.1:${port}`, `127.0.0.1:${secure.port}`);
  });
  after(async () => {
    await server.close();
    await secure.close();
  });

  it("connects to the address of a granted name, with Host the name's", async () => {
    const result = await ask("/");
    assert.equal(body(result), `GET name.test:${server.port}`);
    assert.ok(result.outcome === "ok");
    assert.equal(result.status, 200);
    assert.equal(result.url, at("/"));
  });

  it("gives status, headers in lower case and the body of an answer that is not a success", async () => {
    const result = await ask("/teapot");
    assert.equal(body(result), "short and stout");
    assert.ok(result.outcome === "ok");
    assert.equal(result.status, 418);
    const values = result.headers.filter(([name]) => name === "x-two").flatMap(([, value]) =>
      value.split(", ")
    );
    assert.deepEqual(values, ["a", "b"]);
  });

  it("sends method, headers and body as they are", async () => {
    await ask("/echo", {
      method: "put",
      headers: [["X-Key", "one"], ["Content-Type", "text/plain"]],
      body: new TextEncoder().encode("häl\0lo"),
    });
    const last = seen.at(-1);
    assert.equal(last?.line, "PUT /echo");
    assert.equal(last?.body, "häl\0lo");
    assert.equal(last?.headers["x-key"], "one");
    assert.equal(last?.headers["content-length"], "7");
    assert.equal(last?.headers["accept-encoding"], "identity");
  });

  it("refuses what `network` does not grant, without looking the name up", async () => {
    let lookups = 0;
    const counting = fetcher({
      resolve: async () => {
        lookups += 1;
        return ["127.0.0.1"];
      },
    });
    assert.equal(refusal(await counting({ url: at("/", "else.test"), allow })), "host_not_listed");
    assert.equal(refusal(await counting({ url: "http://name.test:25/", allow: true })), "port_refused");
    assert.equal(lookups, 0);
  });

  for (
    const name of [
      "name.test",
      "private.test",
      "mixed.test",
      "mapped.test",
      "nat64.test",
      "metadata.test",
      "scoped.test",
    ]
  ) {
    it(`refuses ${name}, which resolves to ${NAMES[name]?.join(" and ")}, where only public hosts are granted`, async () => {
      const connections = server.total();
      assert.equal(refusal(await guarded({ url: at("/", name), allow: true })), "address_refused");
      assert.equal(refusal(await guarded({ url: at("/", name), allow: hosts(name) })), "address_refused");
      assert.equal(server.total(), connections);
    });
  }

  it("looks a name up once and stays with what it judged", async () => {
    let lookups = 0;
    const elsewhere = await serve((_request, response) => response.end("the wrong one"), {
      address: "127.0.0.2",
    });
    try {
      const rebinding = fetcher({
        resolve: async () => {
          lookups += 1;
          return [lookups === 1 ? "127.0.0.1" : "127.0.0.2"];
        },
      });
      assert.equal(body(await rebinding({ url: at("/"), allow })), `GET name.test:${server.port}`);
      assert.equal(lookups, 1);
      assert.equal(refusal(await rebinding({ url: at("/"), allow })), "address_refused");
      assert.equal(elsewhere.total(), 0);
    } finally {
      await elsewhere.close();
    }
  });

  it("tries the next address when one does not answer", async () => {
    const two = fetcher({ resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    const result = await two({ url: at("/"), allow: [...allow, ...hosts("127.0.0.9")] });
    assert.equal(body(result), `GET name.test:${server.port}`);
  });

  it("says that a name cannot be looked up, or has no address", async () => {
    for (const name of ["unknown.test", "nothing.test"]) {
      const result = await guarded({ url: at("/", name), allow: hosts(name) });
      assert.ok(result.outcome === "failed");
      assert.equal(result.code, "dns");
    }
  });

  it("says that nobody listens", async () => {
    const result = await guarded({ url: "http://127.0.0.1:1/", allow: hosts("127.0.0.1:1") });
    assert.ok(result.outcome === "failed", JSON.stringify(result));
    assert.equal(result.code, "connect");
    assert.match(result.detail, /127\.0\.0\.1: no connection \(ECONNREFUSED\)/);
  });

  it("asks no proxy of the environment", async () => {
    const proxy = await serve((_request, response) => response.end("proxied"));
    try {
      const program = fileURLToPath(new URL("./fetching_child.ts", import.meta.url));
      const words = process.versions["bun"]
        ? [program]
        : ["run", "-A", "--no-check", "--cached-only", program];
      const env: Record<string, string | undefined> = {
        ...process.env,
        NODE_USE_ENV_PROXY: "1",
        DENO_NO_UPDATE_CHECK: "1",
      };
      for (
        const name of ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
      ) {
        env[name] = `http://127.0.0.1:${proxy.port}`;
      }
      const { stdout } = await promisify(execFile)(process.execPath, [...words, `${server.port}`], { env });
      assert.equal(stdout, `GET name.test:${server.port}`);
      assert.equal(proxy.total(), 0);
    } finally {
      await proxy.close();
    }
  });

  describe("TLS", () => {
    const https = (host: string) => ({ url: `https://${host}:${secure.port}/`, allow });

    it("checks the certificate against the name, not the address", async () => {
      assert.equal(body(await guarded(https("name.test"))), `GET name.test:${secure.port}`);
      const wrong = fetcher({ resolve: async () => ["127.0.0.1"] });
      const result = await wrong({ ...https("wrong.test"), allow: [...allow, ...hosts("wrong.test")] });
      assert.ok(result.outcome === "failed", JSON.stringify(result));
      assert.equal(result.code, "tls");
    });

    it("checks it even when the environment says not to", async () => {
      const saved = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      try {
        const without = createGuardedFetch({ clock: systemClock, resolve: async () => ["127.0.0.1"] });
        const result = await without(https("name.test"));
        assert.ok(result.outcome === "failed", JSON.stringify(result));
        assert.equal(result.code, "tls");
      } finally {
        if (saved === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
        else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = saved;
      }
    });

    it("says that plain HTTP is not TLS", async () => {
      const result = await guarded({ url: `https://name.test:${server.port}/`, allow });
      assert.equal(result.outcome, "failed");
    });
  });

  describe("redirects", () => {
    const to = (status: number, place: string) => `/${status}?to=${encodeURIComponent(place)}`;

    it("are followed where they are granted", async () => {
      const result = await ask(to(302, at("/end", "other.test")));
      assert.equal(body(result), `GET other.test:${server.port}`);
      assert.ok(result.outcome === "ok");
      assert.equal(result.redirects, 1);
      assert.equal(result.url, at("/end", "other.test"));
    });

    for (
      const [place, reason] of [
        ["http://else.test/", "host_not_listed"],
        ["http://127.0.0.1:1/", "host_not_listed"],
        ["http://169.254.169.254/latest/meta-data/", "host_not_listed"],
        ["file:///etc/passwd", "bad_url"],
        ["gopher://name.test/", "bad_url"],
        ["http://user:secret@name.test/", "bad_url"],
        ["//else.test/", "host_not_listed"],
      ] as const
    ) {
      it(`to ${place} are refused`, async () => {
        assert.equal(refusal(await ask(to(302, place))), reason);
      });
    }

    it("to a name with a private address are refused although the name is granted", async () => {
      const list = [...allow, ...hosts("metadata.test", "private.test")];
      for (const name of ["metadata.test", "private.test"]) {
        assert.equal(refusal(await ask(to(307, `http://${name}/`), { allow: list })), "address_refused");
      }
    });

    it("from https to http are refused", async () => {
      const url = `https://name.test:${secure.port}${to(302, at("/"))}`;
      assert.equal(refusal(await guarded({ url, allow })), "redirect_downgrade");
    });

    it("are bounded", async () => {
      const from = seen.length;
      assert.equal(refusal(await ask("/302loop", { maxRedirects: 3 })), "too_many_redirects");
      assert.equal(seen.length - from, 4);
    });

    it("are an answer when none are followed", async () => {
      const result = await ask(to(302, "/end"), { maxRedirects: 0 });
      assert.equal(body(result), "moved");
      assert.ok(result.outcome === "ok");
      assert.equal(result.status, 302);
    });

    it("take method and body along only where they keep them", async () => {
      const post = {
        method: "POST",
        body: new TextEncoder().encode("data"),
        headers: [["content-type", "x/y"]] as const,
      };
      for (
        const [status, line, text, type] of [
          [301, "GET /end", "", undefined],
          [302, "GET /end", "", undefined],
          [303, "GET /end", "", undefined],
          [307, "POST /end", "data", "x/y"],
          [308, "POST /end", "data", "x/y"],
        ] as const
      ) {
        await ask(`/${status}`, post);
        const last = seen.at(-1);
        assert.deepEqual(
          [last?.line, last?.body, last?.headers["content-type"]],
          [line, text, type],
          `${status}`,
        );
      }
    });

    it("leave what says who asks behind at another origin, not at the same", async () => {
      const headers = [["Authorization", "Bearer x"], ["X-Api-Key", "y"], ["Cookie", "z"], [
        "Accept",
        "*/*",
      ]] as const;
      await ask(to(307, "/end"), { headers });
      const same = seen.at(-1)?.headers;
      assert.deepEqual([same?.authorization, same?.["x-api-key"], same?.cookie], ["Bearer x", "y", "z"]);
      await ask(to(307, at("/end", "other.test")), { headers });
      const other = seen.at(-1)?.headers;
      assert.deepEqual(
        [other?.authorization, other?.["x-api-key"], other?.cookie, other?.accept],
        [undefined, undefined, undefined, "*/*"],
      );
    });
  });

  describe("limits", () => {
    it("end a body that is too large, announced or not", async () => {
      for (const path of ["/big", "/announced"]) {
        const result = await ask(path, { maxBodyBytes: 1000 });
        assert.ok(result.outcome === "too_large", JSON.stringify(result));
        assert.equal(result.what, "body");
      }
      assert.equal(body(await ask("/big", { maxBodyBytes: 100_000 })).length, 100_000);
    });

    it("end headers that are too large", async () => {
      const result = await ask("/headers");
      assert.ok(result.outcome === "too_large", JSON.stringify(result));
      assert.equal(result.what, "headers");
    });

    for (const path of ["/silent", "/drip"]) {
      it(`end an answer that is not whole in time: ${path}`, async () => {
        assert.ok(await until(() => server.open() === 0));
        const result = await ask(path, { timeoutMs: 150 });
        assert.equal(result.outcome, "timeout");
        assert.ok(await until(() => server.open() === 0), "the connection is gone");
      });
    }

    it("count redirects and the lookup into the time", async () => {
      const slow = fetcher({ resolve: () => new Promise(() => {}) });
      assert.equal((await slow({ url: at("/"), allow, timeoutMs: 50 })).outcome, "timeout");
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
        const result = await ask("/silent", { signal: stop.signal });
        assert.ok(result.outcome === "failed");
        assert.equal(result.code, "aborted");
      }
      assert.ok(await until(() => server.open() === 0));
    });

    it("refuse what is over the number that may run at once", async () => {
      const one = fetcher({ atOnce: 1 });
      const first = one({ url: at("/silent"), allow, timeoutMs: 100 });
      assert.equal(refusal(await one({ url: at("/"), allow })), "busy");
      assert.equal((await first).outcome, "timeout");
      assert.equal((await one({ url: at("/"), allow })).outcome, "ok");
    });
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
      const result = await ask("/broken");
      assert.ok(result.outcome === "failed", JSON.stringify(result));
      assert.equal(result.code, "protocol");
    });
  });
});
