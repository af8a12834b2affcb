import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseAddress } from "../../src/egress/address.ts";
import { type AllowedHost, judgeAddress, judgeHost, parseAllowedHost } from "../../src/egress/allow.ts";

function allowed(...texts: string[]): AllowedHost[] {
  return texts.map((text) => {
    const parsed = parseAllowedHost(text);
    assert.ok(parsed.ok, text);
    return parsed.host;
  });
}

function reason(verdict: ReturnType<typeof judgeHost>): string {
  return verdict.allowed ? "allowed" : verdict.reason;
}

describe("parseAllowedHost", () => {
  for (
    const [text, problem] of [
      ["http://example.com", "without http://"],
      ["example.com/path", "an address, or a network"],
      ["user@example.com", "a host, or a host and a port"],
      ["exa mple.com", "a host, or a host and a port"],
      ["*", "network: true"],
      ["a.*.example.com", 'a "*" may only stand alone'],
      ["*example.com", 'a "*" may only stand alone'],
      ["", "a host, or a host and a port"],
      [":80", "a host, or a host and a port"],
      ["example.com:0", "1 to 65535"],
      ["example.com:65536", "1 to 65535"],
      ["example.com:http", "a host, or a host and a port"],
      ["10.0.0.1/8", "bits behind the prefix are 0"],
      ["[::1", "a host, or a host and a port"],
      ["[fe80::1%eth0]", "a host, or a host and a port"],
      ["0x7f000001", "four decimal numbers"],
      ["2130706433", "four decimal numbers"],
      ["127.1", "four decimal numbers"],
      ["0177.0.0.1", "four decimal numbers"],
      ["-bad.example", "is not a host name"],
      ["a..b", "is not a host name"],
      [`${"a".repeat(64)}.example`, "is not a host name"],
    ] as const
  ) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const parsed = parseAllowedHost(text);
      assert.ok(!parsed.ok);
      assert.ok(parsed.problem.includes(problem), parsed.problem);
    });
  }
});

describe("judgeHost", () => {
  for (
    const [list, host, port, expected] of [
      ["example.com", "example.com", 443, "allowed"],
      ["Example.COM.", "example.com", 8080, "allowed"],
      ["example.com", "www.example.com", 443, "host_not_listed"],
      ["example.com", "notexample.com", 443, "host_not_listed"],
      ["example.com:8080", "example.com", 8080, "allowed"],
      ["example.com:8080", "example.com", 80, "host_not_listed"],
      ["*.example.com", "a.b.example.com", 443, "allowed"],
      ["*.example.com", "example.com", 443, "host_not_listed"],
      ["*.example.com", "notexample.com", 443, "host_not_listed"],
      ["*.example.com:81", "a.example.com", 81, "allowed"],
      ["bücher.example", "xn--bcher-kva.example", 443, "allowed"],
      ["10.0.0.0/8", "10.1.2.3", 80, "allowed"],
      ["10.0.0.0/8", "11.1.2.3", 80, "host_not_listed"],
      ["10.0.0.0/8", "name.example", 80, "host_not_listed"],
      ["127.0.0.1:81", "127.0.0.1", 81, "allowed"],
      ["127.0.0.1:81", "127.0.0.1", 82, "host_not_listed"],
      ["127.0.0.1", "::ffff:7f00:1", 82, "allowed"],
      ["[::1]:81", "::1", 81, "allowed"],
      ["::1", "::1", 82, "allowed"],
      ["example.com", "example.com", 25, "port_refused"],
      ["example.com:25", "example.com", 25, "allowed"],
    ] as const
  ) {
    it(`with ${list} says ${expected} to ${host}:${port}`, () => {
      assert.equal(reason(judgeHost({ host, port }, allowed(list))), expected);
    });
  }

  it("lets an entry with the port open what an entry without it does not", () => {
    assert.equal(
      reason(judgeHost({ host: "a.example", port: 25 }, allowed("a.example", "*.example:25"))),
      "allowed",
    );
  });

  it("lets `true` reach any host, but no port of another protocol", () => {
    assert.equal(reason(judgeHost({ host: "anything.example", port: 8443 }, true)), "allowed");
    assert.equal(reason(judgeHost({ host: "anything.example", port: 6667 }, true)), "port_refused");
  });
});

describe("judgeAddress", () => {
  const judge = (host: string, shown: string, allow: true | AllowedHost[], own: string[] = []) => {
    const address = parseAddress(shown);
    assert.ok(address);
    const mine = own.flatMap((text) => parseAddress(text) ?? []);
    return reason(judgeAddress({ host, port: 80 }, address, shown, allow, mine));
  };

  it("never lets `true` reach an address that is not public", () => {
    for (
      const address of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "0.0.0.0", "100.64.0.1"]
    ) {
      assert.equal(judge("name.example", address, true), "address_refused", address);
    }
    assert.equal(judge("name.example", "8.8.8.8", true), "allowed");
  });

  it("lets a listed name reach public addresses only", () => {
    assert.equal(judge("name.example", "8.8.8.8", allowed("name.example")), "allowed");
    assert.equal(judge("name.example", "10.0.0.1", allowed("name.example")), "address_refused");
    assert.equal(judge("name.example", "127.0.0.1", allowed("name.example")), "address_refused");
  });

  it("lets a name reach an address that is listed beside it", () => {
    assert.equal(judge("name.example", "10.0.0.1", allowed("name.example", "10.0.0.0/24")), "allowed");
    assert.equal(
      judge("name.example", "10.0.1.1", allowed("name.example", "10.0.0.0/24")),
      "address_refused",
    );
    assert.equal(
      judge("name.example", "10.0.0.1", allowed("name.example", "10.0.0.1:81")),
      "address_refused",
    );
  });

  it("lets localhost reach loopback and nothing else of this machine", () => {
    assert.equal(judge("localhost", "127.0.0.1", allowed("localhost")), "allowed");
    assert.equal(judge("localhost", "::1", allowed("localhost")), "allowed");
    assert.equal(judge("localhost", "10.0.0.1", allowed("localhost")), "address_refused");
    assert.equal(judge("localhost", "127.0.0.1", allowed("other.example")), "address_refused");
  });

  it("takes this machine's public address for its own", () => {
    assert.equal(judge("name.example", "8.8.8.8", true, ["8.8.8.8"]), "address_refused");
    assert.equal(
      judge("name.example", "8.8.8.8", allowed("name.example", "8.8.8.8"), ["8.8.8.8"]),
      "allowed",
    );
  });

  it("says which address to list", () => {
    const verdict = judgeAddress(
      { host: "name.example", port: 80 },
      Uint8Array.of(10, 0, 0, 1),
      "10.0.0.1",
      true,
      [],
    );
    assert.ok(!verdict.allowed);
    assert.equal(
      verdict.detail,
      "name.example is 10.0.0.1, which is a private address; list 10.0.0.1 in `network` to allow it",
    );
  });
});
