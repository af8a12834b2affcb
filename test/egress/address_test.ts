import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { classify, isIn, parseAddress, parseNetwork } from "../../src/egress/address.ts";

const CLASSES: readonly (readonly [string, string])[] = [
  ["8.8.8.8", "public"],
  ["1.1.1.1", "public"],
  ["172.15.255.255", "public"],
  ["172.32.0.0", "public"],
  ["100.63.255.255", "public"],
  ["100.128.0.0", "public"],
  ["223.255.255.255", "public"],
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "unspecified"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "shared"],
  ["100.127.255.255", "shared"],
  ["169.254.1.1", "link_local"],
  ["169.254.169.254", "metadata"],
  ["169.254.170.2", "metadata"],
  ["100.100.100.200", "metadata"],
  ["168.63.129.16", "metadata"],
  ["192.0.0.1", "reserved"],
  ["192.0.2.1", "reserved"],
  ["198.18.0.1", "reserved"],
  ["198.51.100.1", "reserved"],
  ["203.0.113.1", "reserved"],
  ["192.88.99.1", "reserved"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.250", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["2606:4700:4700::1111", "public"],
  ["2a00:1450:4001:82a::200e", "public"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["fe80::1", "link_local"],
  ["fc00::1", "private"],
  ["fd12:3456::1", "private"],
  ["fec0::1", "private"],
  ["fd00:ec2::254", "metadata"],
  ["ff02::1", "multicast"],
  ["2001::1", "reserved"],
  ["2001:db8::1", "reserved"],
  ["2002:7f00:1::", "reserved"],
  ["3fff::1", "reserved"],
  ["100::1", "reserved"],
  ["5f00::1", "reserved"],
  ["::127.0.0.1", "reserved"],
  ["64:ff9b:1::1", "reserved"],
  ["::ffff:0:127.0.0.1", "reserved"],
  // IPv4 in IPv6 is what it holds.
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::FFFF:10.1.2.3", "private"],
  ["::ffff:169.254.169.254", "metadata"],
  ["::ffff:8.8.8.8", "public"],
  ["64:ff9b::7f00:1", "loopback"],
  ["64:ff9b::192.168.0.1", "private"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["64:ff9b::808:808", "public"],
];

describe("classify", () => {
  for (const [text, expected] of CLASSES) {
    it(`calls ${text} ${expected}`, () => {
      const address = parseAddress(text);
      assert.ok(address, "is an address");
      assert.equal(classify(address), expected);
    });
  }
});

describe("parseAddress", () => {
  for (
    const text of [
      "",
      "1",
      "127.1",
      "127.0.0.01",
      "0x7f.0.0.1",
      "1.2.3.4.5",
      "256.1.1.1",
      "fe80::1%eth0",
      ":::",
      "1::2::3",
    ]
  ) {
    it(`does not read ${JSON.stringify(text)}`, () => assert.equal(parseAddress(text), undefined));
  }

  it("reads every way to write one IPv6 address as the same bytes", () => {
    const bytes = parseAddress("2001:0db8:0000:0000:0000:0000:0102:0304");
    for (const text of ["2001:db8::102:304", "2001:DB8::1.2.3.4", "2001:db8:0::0:102:304"]) {
      assert.deepEqual(parseAddress(text), bytes, text);
    }
  });
});

describe("parseNetwork", () => {
  it("holds the addresses whose leading bits are the same", () => {
    const network = parseNetwork("10.16.0.0/12");
    assert.ok(network);
    for (
      const [text, expected] of [["10.16.0.0", true], ["10.31.255.255", true], ["10.32.0.0", false], [
        "::ffff:10.17.0.1",
        true,
      ], ["fd00::1", false]] as const
    ) {
      const address = parseAddress(text);
      assert.ok(address);
      assert.equal(isIn(address, network), expected, text);
    }
  });

  it("takes 0 and all bits", () => {
    assert.equal(parseNetwork("0.0.0.0/0")?.bits, 0);
    assert.equal(parseNetwork("fd00::1/128")?.bits, 128);
    assert.equal(parseNetwork("fd00::1")?.bits, 128);
  });

  for (
    const text of [
      "10.0.0.1/8",
      "10.0.0.0/33",
      "fd00::/129",
      "10.0.0.0/",
      "/8",
      "::ffff:10.0.0.0/104",
      "host/8",
    ]
  ) {
    it(`does not read ${text}`, () => assert.equal(parseNetwork(text), undefined));
  }
});
