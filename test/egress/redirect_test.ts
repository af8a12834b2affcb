import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hosts } from "./server.ts";
import { body, fetcher, openWorld, refusal } from "./world.ts";

const guarded = fetcher();

describe("redirects of a guarded fetch", () => {
  const world = openWorld();
  const to = (status: number, place: string) => `/${status}?to=${encodeURIComponent(place)}`;

  it("are followed where they are granted", async () => {
    const result = await world.ask(to(302, world.at("/end", "other.test")));
    assert.equal(body(result), `GET other.test:${world.server.port}`);
    assert.ok(result.outcome === "ok");
    assert.equal(result.redirects, 1);
    assert.equal(result.url, world.at("/end", "other.test"));
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
      assert.equal(refusal(await world.ask(to(302, place))), reason);
    });
  }

  it("to a name with a private address are refused although the name is granted", async () => {
    const list = [...world.allow, ...hosts("metadata.test", "private.test")];
    for (const name of ["metadata.test", "private.test"]) {
      assert.equal(refusal(await world.ask(to(307, `http://${name}/`), { allow: list })), "address_refused");
    }
  });

  it("from https to http are refused", async () => {
    const url = `https://name.test:${world.secure.port}${to(302, world.at("/"))}`;
    assert.equal(refusal(await guarded({ url, allow: world.allow })), "redirect_downgrade");
  });

  it("are bounded", async () => {
    const from = world.seen.length;
    assert.equal(refusal(await world.ask("/302loop", { maxRedirects: 3 })), "too_many_redirects");
    assert.equal(world.seen.length - from, 4);
  });

  it("are an answer when none are followed", async () => {
    const result = await world.ask(to(302, "/end"), { maxRedirects: 0 });
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
      await world.ask(`/${status}`, post);
      const last = world.seen.at(-1);
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
    await world.ask(to(307, "/end"), { headers });
    const same = world.seen.at(-1)?.headers;
    assert.deepEqual([same?.authorization, same?.["x-api-key"], same?.cookie], ["Bearer x", "y", "z"]);
    await world.ask(to(307, world.at("/end", "other.test")), { headers });
    const other = world.seen.at(-1)?.headers;
    assert.deepEqual(
      [other?.authorization, other?.["x-api-key"], other?.cookie, other?.accept],
      [undefined, undefined, undefined, "*/*"],
    );
  });
});
