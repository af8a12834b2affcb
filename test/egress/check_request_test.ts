import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { checkRequest, MOST_REQUEST_BYTES } from "../../src/egress/check_request.ts";
import { createGuardedFetch } from "../../src/egress/guarded_fetch.ts";
import type { EgressHeaders } from "../../src/egress/result.ts";

function reasonOf(request: Parameters<typeof checkRequest>[0]): string {
  const result = checkRequest(request);
  return result.ok ? "ok" : result.reason;
}

/** Spellings of addresses that are not public, and what they are taken for. */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ["http://127.0.0.1/", "127.0.0.1"],
  ["http://127.0.0.1./", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://0x7f000001/", "127.0.0.1"],
  ["http://0X7F.0.0.1/", "127.0.0.1"],
  ["http://017700000001/", "127.0.0.1"],
  ["http://0177.0.0.01/", "127.0.0.1"],
  ["http://127.1/", "127.0.0.1"],
  ["http://127.0.1/", "127.0.0.1"],
  ["http://0/", "0.0.0.0"],
  ["http://%31%32%37.0.0.1/", "127.0.0.1"],
  ["http://127。0。0。1/", "127.0.0.1"],
  ["http://①②⑦.0.0.1/", "127.0.0.1"],
  ["http:\\\\127.0.0.1\\", "127.0.0.1"],
  ["http:127.0.0.1", "127.0.0.1"],
  ["hTTp://127.0.0.1\t/", "127.0.0.1"],
  [" http://127.0.0.1 ", "127.0.0.1"],
  ["http://[::1]/", "::1"],
  ["http://[0:0:0:0:0:0:0:1]/", "::1"],
  ["http://[::ffff:127.0.0.1]/", "::ffff:7f00:1"],
  ["http://[::FFFF:7F00:0001]/", "::ffff:7f00:1"],
  ["http://[64:ff9b::127.0.0.1]/", "64:ff9b::7f00:1"],
  ["http://[::]/", "::"],
  ["http://[fd00:ec2::254]/", "fd00:ec2::254"],
  ["http://169.254.169.254/", "169.254.169.254"],
  ["http://2852039166/", "169.254.169.254"],
];

describe("checkRequest", () => {
  for (const [url, host] of SPELLINGS) {
    it(`takes ${JSON.stringify(url)} for ${host}, and it is refused`, async () => {
      const result = checkRequest({ url });
      assert.ok(result.ok);
      assert.equal(result.checked.target.host, host);
      const guarded = createGuardedFetch({ clock: systemClock, resolve: async () => ["93.184.216.34"] });
      const answer = await guarded({ url, allow: true });
      assert.ok(answer.outcome === "refused", JSON.stringify(answer));
      assert.equal(answer.reason, "address_refused");
    });
  }

  for (
    const [url, host] of [
      ["http://EXAMPLE.com./", "example.com"],
      ["http://BÜCHER.example/", "xn--bcher-kva.example"],
      ["http://ex%61mple.com/", "example.com"],
    ] as const
  ) {
    it(`takes ${url} for ${host}`, () => {
      const result = checkRequest({ url });
      assert.ok(result.ok);
      assert.equal(result.checked.target.host, host);
    });
  }

  for (
    const url of [
      "",
      "/path",
      "//example.com/",
      "ftp://example.com/",
      "file:///etc/passwd",
      "data:text/plain,x",
      "javascript:alert(1)",
      "http://",
      "http://user@example.com/",
      "http://:secret@example.com/",
      "http://[fe80::1%25eth0]/",
      "http://[fe80::1%eth0]/",
      "http://exa mple.com/",
      "http://1.2.3.4.5/",
      "http://256.256.256.256/",
      "http://example.com:99999/",
      "http://example.com../",
      "http://./",
      `http://example.com/${"x".repeat(9000)}`,
    ]
  ) {
    it(`refuses ${JSON.stringify(url.slice(0, 40))}`, () => assert.equal(reasonOf({ url }), "bad_url"));
  }

  for (const method of ["CONNECT", "TRACE", "GET /", "", "G\r\nET", "PROPFIND"]) {
    it(`refuses the method ${JSON.stringify(method)}`, () => {
      assert.equal(reasonOf({ url: "http://example.com/", method }), "bad_method");
    });
  }

  for (
    const [name, value] of [
      ["Host", "else.example"],
      ["connection", "keep-alive"],
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", "5"],
      ["TE", "trailers"],
      ["Trailer", "x"],
      ["Upgrade", "h2c"],
      ["Expect", "100-continue"],
      ["Proxy-Authorization", "x"],
      ["Keep-Alive", "x"],
      ["X-Split", "a\r\nHost: b"],
      ["X-Null", "a\0"],
      ["X-Wide", "ä€"],
      ["Bad Name", "x"],
      ["", "x"],
      ["X-A:", "x"],
      ["X-Long", "x".repeat(20_000)],
    ] as const
  ) {
    it(`refuses the header ${JSON.stringify(name)} with ${JSON.stringify(value.slice(0, 20))}`, () => {
      assert.equal(reasonOf({ url: "http://example.com/", headers: [[name, value]] }), "bad_header");
    });
  }

  it("bounds the number of headers and the body", () => {
    const url = "http://example.com/";
    const many: EgressHeaders = Array.from({ length: 65 }, (_, i) => [`x-${i}`, "y"] as const);
    assert.equal(reasonOf({ url, headers: many }), "bad_header");
    assert.equal(reasonOf({ url, headers: many.slice(1) }), "ok");
    assert.equal(reasonOf({ url, body: new Uint8Array(MOST_REQUEST_BYTES + 1) }), "request_too_large");
  });

  it("quotes neither path nor header in what it says", () => {
    for (
      const request of [
        { url: "http://user:hunter2@example.com/hunter2" },
        { url: "http://example.com/hunter2", headers: [["x-key", "hunter2\nx"]] as const },
        { url: "http://example.com/?hunter2", method: "hunter2" },
      ]
    ) {
      assert.ok(!JSON.stringify(checkRequest(request)).includes("hunter2"));
    }
  });
});
