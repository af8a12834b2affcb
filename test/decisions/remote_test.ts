import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import process from "node:process";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../src/clock/clock.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { runChain } from "../../src/decisions/chain.ts";
import type { RemoteTarget } from "../../src/decisions/declaration.ts";
import { remoteExecutor } from "../../src/decisions/remote/remote_executor.ts";
import { makeContext } from "../../src/points/contexts.ts";
import { chainHook, chainOptions, failure, memoryAudit } from "./support.ts";
import { type Received, result, type TestServer, text, withServer } from "./server.ts";

type Rest = Partial<RemoteTarget> & { timeoutMs?: number; required?: boolean; env?: Record<string, string> };

const facts = () => makeContext("session_spawn", { work_item: "github:o/r#3", prompt: "p", cwd: "/w" });

function remote(url: string, { timeoutMs = 5000, required = false, env = {}, ...rest }: Rest = {}) {
  const target = {
    kind: "url",
    target: url,
    tokenEnv: null,
    headers: {},
    signEnv: null,
    breaker: null,
    ...rest,
  } as const;
  const executor = remoteExecutor(target, { clock: systemClock, env: (name) => env[name] });
  return { ...chainHook("remote", () => null, { timeoutMs, required }), executor };
}

async function ask(url: string, rest?: Rest) {
  const audit = memoryAudit();
  const decided = await runChain([remote(url, rest)], "session_spawn", facts(), chainOptions(audit));
  return { ...decided, audit, error: failure(audit) };
}

/** Asks a service that answers like this. */
async function answered(
  answer: (response: ServerResponse, request: Received) => void,
  rest?: Rest,
): Promise<Awaited<ReturnType<typeof ask>>> {
  let outcome: Awaited<ReturnType<typeof ask>> | undefined;
  await withServer(answer, async ({ url }) => {
    outcome = await ask(url, rest);
  });
  assert.ok(outcome);
  return outcome;
}

describe("a remote executor", () => {
  it("takes the decisions that the result names", async () => {
    const { decisions, refusedBy } = await answered(
      result({ proceed: false, reason: "x", cwd: "/y", zeal: 1 }),
    );
    assert.deepEqual(decisions, { prompt: "p", proceed: false, reason: "x" });
    assert.equal(refusedBy, "remote");
  });

  it("takes null as no change", async () => {
    const { audit } = await answered(result(null));
    assert.deepEqual(audit.events, []);
  });

  it("sends one JSON-RPC 2.0 POST a call, with every field of the context and ids from 1", () =>
    withServer(result(null), async ({ url, received }) => {
      const hook = remote(url, { headers: { "X-Team": "ops" } });
      for (let n = 0; n < 2; n++) {
        await runChain([hook], "session_spawn", facts(), { ...chainOptions(memoryAudit()), id: "dec-1" });
      }
      const [first, second] = received;
      assert.deepEqual(first?.body, {
        jsonrpc: "2.0",
        id: 1,
        method: "session_spawn",
        params: { ...facts() },
      });
      assert.equal(second?.body.id, 2);
      assert.equal(first?.headers["content-type"], "application/json");
      assert.equal(first?.headers["x-team"], "ops");
      assert.equal(first?.headers["x-request-id"], "dec-1");
      assert.equal(second?.headers["x-request-id"], "dec-1");
      assert.equal(first?.headers.authorization, undefined);
    }));

  it("uses a connection again", () =>
    withServer(result(null), async ({ url, connections }) => {
      const hook = remote(url);
      for (let n = 0; n < 10; n++) {
        await runChain([hook], "session_spawn", facts(), chainOptions(memoryAudit()));
      }
      assert.ok(connections() <= 2, `${connections()} connections`);
    }));

  it("sends once more, on a new connection, what was lost with one that the service had closed", () =>
    withServer((response, request) => {
      response.on("finish", () => void response.socket?.end());
      result({ prompt: "far" })(response, request);
    }, async ({ url, received }) => {
      const hook = remote(url, { required: true });
      for (let n = 1; n <= 8; n++) {
        const audit = memoryAudit();
        const { decisions } = await runChain([hook], "session_spawn", facts(), chainOptions(audit));
        assert.deepEqual([failure(audit), decisions.prompt, decisions.proceed], ["", "far", true]);
        assert.equal(received.length, n);
      }
    }));

  it("fails for every answer that is none", async () => {
    const answers: [string, (response: ServerResponse, request: Received) => void, RegExp][] = [
      [
        "an error member",
        text(200, '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no"}}'),
        /error -32000: no/,
      ],
      ["500 with a good body", text(500, '{"jsonrpc":"2.0","id":ID,"result":{"prompt":"x"}}'), /HTTP 500/],
      ["204", text(204, ""), /empty/],
      ["empty 200", text(200, ""), /empty/],
      [
        "another id",
        (response, { body }) =>
          text(200, `{"jsonrpc":"2.0","id":${body.id + 1},"result":null}`)(response, { body } as Received),
        /id of another call/,
      ],
      ["the id as a string", text(200, '{"jsonrpc":"2.0","id":"ID","result":null}'), /id of another call/],
      ["no jsonrpc", text(200, '{"id":ID,"result":null}'), /not JSON-RPC 2.0/],
      ["jsonrpc 1.0", text(200, '{"jsonrpc":"1.0","id":ID,"result":null}'), /not JSON-RPC 2.0/],
      ["a list", text(200, '{"jsonrpc":"2.0","id":ID,"result":[]}'), /null or an object/],
      ["text", text(200, '{"jsonrpc":"2.0","id":ID,"result":"x"}'), /null or an object/],
      ["true", text(200, '{"jsonrpc":"2.0","id":ID,"result":true}'), /null or an object/],
      ["neither", text(200, '{"jsonrpc":"2.0","id":ID}'), /neither result nor error/],
      ["error null", text(200, '{"jsonrpc":"2.0","id":ID,"result":null,"error":null}'), /error member/],
      ["a batch", text(200, '[{"jsonrpc":"2.0","id":ID,"result":null}]'), /not one JSON-RPC object/],
      ["not JSON", text(200, "<html>"), /not JSON/],
      ["not coerced", result({ proceed: 0 }), /proceed must be a boolean/],
      ["one wrong of two", result({ proceed: null, prompt: "x" }), /proceed must be a boolean/],
      ["a dropped connection", (response) => void response.socket?.destroy(), /Unreachable/],
      ["half an answer", (response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write('{"jsonrpc"');
        setTimeout(() => response.socket?.destroy(), 20);
      }, /Unreachable/],
    ];
    for (const [kind, answer, reason] of answers) {
      const { decisions, error } = await answered(answer);
      assert.match(error, reason, kind);
      assert.deepEqual(decisions, { prompt: "p", proceed: true, reason: "" }, kind);
    }
  });

  it("does not look at names of prototypes in a result", async () => {
    const body =
      '{"jsonrpc":"2.0","id":ID,"result":{"__proto__":{"proceed":false},"constructor":1,"toString":2}}';
    const { decisions, audit } = await answered(text(200, body));
    assert.equal(decisions.proceed, true);
    assert.deepEqual(audit.events, []);
  });

  it("fails when the port is closed", async () => {
    const { error, decisions } = await ask("http://127.0.0.1:1/");
    assert.match(error, /^Unreachable: /);
    assert.equal(decisions.proceed, true);
  });

  it("follows no redirect, and sends the token nowhere else", () =>
    withServer(
      result({ proceed: false }),
      (other) =>
        withServer(text(302, "", { location: other.url }), async ({ url, received }) => {
          const { error } = await ask(url, { tokenEnv: "T", env: { T: "secret-token" } });
          assert.match(error, /HTTP 302; redirects are not followed/);
          assert.equal(received.length, 1);
          assert.equal(other.received.length, 0);
        }),
    ));

  it("reads the token at each call, and sends nothing while it is unset", () =>
    withServer(result(null), async ({ url, received }) => {
      const env: Record<string, string> = { T: "one-token" };
      const hook = remote(url, { tokenEnv: "T", env });
      const call = async () => {
        const audit = memoryAudit();
        await runChain([hook], "session_spawn", facts(), chainOptions(audit));
        return failure(audit);
      };
      await call();
      env["T"] = "two-token";
      await call();
      assert.deepEqual(received.map(({ headers }) => headers.authorization), [
        "Bearer one-token",
        "Bearer two-token",
      ]);
      for (const value of ["", "with\nnewline", undefined]) {
        if (value === undefined) delete env["T"];
        else env["T"] = value;
        const error = await call();
        assert.match(error, /nothing was sent/);
        assert.doesNotMatch(error, /newline/);
      }
      assert.equal(received.length, 2);
    }));

  it("signs what it sends where a key is named", () =>
    withServer(result(null), async ({ url, received }) => {
      await ask(url, { signEnv: "K", env: { K: "the-key" } });
      const [one] = received;
      const id = one?.headers["x-request-id"];
      const timestamp = one?.headers["x-reyn-timestamp"];
      assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 60);
      const expected = createHmac("sha256", "the-key").update(
        `${String(id)}.${String(timestamp)}.${one?.raw}`,
      ).digest("hex");
      assert.equal(one?.headers["x-reyn-signature"], `v1=${expected}`);
    }));

  it("repeats no secret and no long text of an answer in its error", async () => {
    const env = { T: "secret-token", K: "secret-key" };
    const rest: Rest = { tokenEnv: "T", signEnv: "K", headers: { "X-Key": "secret-header" }, env };
    const echo = `${"x".repeat(150)} secret-token secret-key secret-header ${"y".repeat(100_000)}`;
    for (
      const answer of [
        text(500, echo),
        text(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"${echo}"}}`),
      ]
    ) {
      const { error } = await answered(answer, rest);
      assert.doesNotMatch(error, /secret/);
      assert.ok(error.length < 600);
    }
  });
});

describe("plain http to this machine", () => {
  it("does not go by way of a proxy, which would see the token", () =>
    withServer(
      result({ prompt: "direct" }),
      (service) =>
        withServer(result({ prompt: "proxied" }), async (proxy) => {
          const before = { ...process.env };
          const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
          for (const name of names) process.env[name] = proxy.url;
          try {
            const { decisions } = await ask(service.url, { tokenEnv: "T", env: { T: "secret-token" } });
            assert.equal(decisions.prompt, "direct");
            assert.equal(proxy.received.length, 0);
          } finally {
            for (const name of names) {
              if (before[name] === undefined) delete process.env[name];
              else process.env[name] = before[name];
            }
          }
        }),
    ));
});

describe("the time of a remote executor", () => {
  const drip = (response: ServerResponse) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };

  it("covers a service that is silent, and one that drips", async () => {
    for (const answer of [() => {}, drip]) {
      const begun = performance.now();
      const { error, refusedBy } = await answered(answer, { timeoutMs: 200, required: true });
      assert.match(error, /^TimeoutError: /);
      assert.equal(refusedBy, "remote");
      assert.ok(performance.now() - begun < 5000);
    }
  });

  it("ignores an answer that comes late, and refuses where the hook is required", async () => {
    const late = (response: ServerResponse, request: Received) =>
      void setTimeout(() => result({ proceed: true })(response, request), 400);
    const { refusedBy, audit } = await answered(late, { timeoutMs: 150, required: true });
    assert.equal(refusedBy, "remote");
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.deepEqual(audit.events.map(({ type }) => type), [
      "hooks.failed",
      "hooks.decided",
      "hooks.refused",
    ]);
  });

  it("covers a server that accepts and never speaks", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    assert.ok(typeof address === "object" && address);
    const { error } = await ask(`http://127.0.0.1:${address.port}/`, { timeoutMs: 100 });
    assert.match(error, /TimeoutError/);
    silent.close();
  });
});

describe("the size of a remote answer", () => {
  it("is bounded, compressed or not", async () => {
    const endless = (response: ServerResponse) => {
      response.writeHead(200);
      const more = () => {
        while (response.writable && response.write("x".repeat(65536)));
      };
      response.on("drain", more);
      response.on("error", () => {});
      more();
    };
    const bomb = (response: ServerResponse) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync(new Uint8Array(50 * 1024 * 1024)));
    };
    for (const answer of [endless, bomb]) {
      const { error } = await answered(answer, { timeoutMs: 10_000 });
      assert.match(error, /larger than 1048576 bytes|is compressed/);
    }
  });
});

describe("the breaker of a remote executor", () => {
  it("fails fast after so many failures, lets one call through to see, and closes when that is answered", async () => {
    let healthy = false;
    const answer = (response: ServerResponse, request: Received) =>
      (healthy ? result(null) : text(503, ""))(response, request);
    await withServer(answer, async ({ url, received }: TestServer) => {
      const clock = virtualClock();
      const target = { kind: "url", target: url, tokenEnv: null, headers: {}, signEnv: null } as const;
      const executor = remoteExecutor({ ...target, breaker: { after: 2, probeMs: 1000 } }, {
        clock,
        env: () => undefined,
      });
      const call = async () => {
        const audit = memoryAudit();
        const hook = { ...chainHook("remote", () => null), executor };
        await runChain([hook], "session_spawn", facts(), chainOptions(audit));
        return failure(audit) || "fine";
      };
      assert.match(await call(), /HTTP 503/);
      assert.match(await call(), /HTTP 503/);
      assert.match(await call(), /not asked for now/);
      assert.equal(received.length, 2);
      await clock.advance(1000);
      const both = await Promise.all([call(), call()]);
      assert.deepEqual(both.filter((error) => error.includes("503")).length, 1);
      assert.equal(received.length, 3);
      assert.match(await call(), /not asked for now/);
      healthy = true;
      await clock.advance(1000);
      assert.equal(await call(), "fine");
      assert.equal(await call(), "fine");
      assert.equal(received.length, 5);
    });
  });
});
