import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../src/clock/clock.ts";
import { createGuardedFetch } from "../../src/egress/guarded_fetch.ts";
import { hosts, serve } from "./server.ts";
import { body, fetcher, NAMES, openWorld, refusal } from "./world.ts";

const guarded = fetcher();

describe("createGuardedFetch", () => {
  const world = openWorld();
  it("connects to the address of a granted name, with Host the name's", async () => {
    const result = await world.ask("/");
    assert.equal(body(result), `GET name.test:${world.server.port}`);
    assert.ok(result.outcome === "ok");
    assert.equal(result.status, 200);
    assert.equal(result.url, world.at("/"));
  });

  it("gives status, headers in lower case and the body of an answer that is not a success", async () => {
    const result = await world.ask("/teapot");
    assert.equal(body(result), "short and stout");
    assert.ok(result.outcome === "ok");
    assert.equal(result.status, 418);
    const values = result.headers.filter(([name]) => name === "x-two").flatMap(([, value]) =>
      value.split(", ")
    );
    assert.deepEqual(values, ["a", "b"]);
  });

  it("sends method, headers and body as they are", async () => {
    await world.ask("/echo", {
      method: "put",
      headers: [["X-Key", "one"], ["Content-Type", "text/plain"]],
      body: new TextEncoder().encode("häl\0lo"),
    });
    const last = world.seen.at(-1);
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
    assert.equal(
      refusal(await counting({ url: world.at("/", "else.test"), allow: world.allow })),
      "host_not_listed",
    );
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
      const connections = world.server.total();
      assert.equal(refusal(await guarded({ url: world.at("/", name), allow: true })), "address_refused");
      assert.equal(
        refusal(await guarded({ url: world.at("/", name), allow: hosts(name) })),
        "address_refused",
      );
      assert.equal(world.server.total(), connections);
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
      assert.equal(
        body(await rebinding({ url: world.at("/"), allow: world.allow })),
        `GET name.test:${world.server.port}`,
      );
      assert.equal(lookups, 1);
      assert.equal(refusal(await rebinding({ url: world.at("/"), allow: world.allow })), "address_refused");
      assert.equal(elsewhere.total(), 0);
    } finally {
      await elsewhere.close();
    }
  });

  it("tries the next address when one does not answer", async () => {
    const two = fetcher({ resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    const result = await two({ url: world.at("/"), allow: [...world.allow, ...hosts("127.0.0.9")] });
    assert.equal(body(result), `GET name.test:${world.server.port}`);
  });

  it("says that a name cannot be looked up, or has no address", async () => {
    for (const name of ["unknown.test", "nothing.test"]) {
      const result = await guarded({ url: world.at("/", name), allow: hosts(name) });
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
      const { stdout } = await promisify(execFile)(process.execPath, [...words, `${world.server.port}`], {
        env,
      });
      assert.equal(stdout, `GET name.test:${world.server.port}`);
      assert.equal(proxy.total(), 0);
    } finally {
      await proxy.close();
    }
  });

  describe("TLS", () => {
    const https = (host: string) => ({ url: `https://${host}:${world.secure.port}/`, allow: world.allow });

    it("checks the certificate against the name, not the address", async () => {
      assert.equal(body(await guarded(https("name.test"))), `GET name.test:${world.secure.port}`);
      const wrong = fetcher({ resolve: async () => ["127.0.0.1"] });
      const result = await wrong({ ...https("wrong.test"), allow: [...world.allow, ...hosts("wrong.test")] });
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
      const result = await guarded({ url: `https://name.test:${world.server.port}/`, allow: world.allow });
      assert.equal(result.outcome, "failed");
    });
  });
});
