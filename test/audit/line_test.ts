import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { decodeLine, encodeLine } from "../../src/audit/line.ts";
import { sample } from "./helpers.ts";

/** The polynomial written out, independent of the runtime's. */
function crcOf(bytes: Uint8Array): string {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

describe("a line of the audit log", () => {
  it("has its members in the documented order, the checksum last", () => {
    const line = encodeLine(sample(1));
    assert.deepEqual(Object.keys(JSON.parse(line)), ["id", "type", "timestamp", "session", "data", "crc"]);
    assert.equal(line.includes("\n"), false);
  });

  it("carries the CRC-32 of its bytes without the crc member", () => {
    const line = encodeLine(sample(1, { data: { error: 'é 😀 " \\ \u202e \ud800', n: 0.1 } }));
    const { crc } = JSON.parse(line) as { crc: string };
    assert.match(crc, /^[0-9a-f]{8}$/);
    assert.equal(crc, crcOf(Buffer.from(line.replace(`,"crc":"${crc}"`, ""))));
    assert.equal(crcOf(Buffer.from("123456789")), "cbf43926");
  });

  it("comes back as it was", () => {
    for (
      const event of [
        sample(1),
        sample(2, { session: null, data: {} }),
        sample(3, { data: { crc: "x", a: [{}] } }),
      ]
    ) {
      const text = encodeLine(event);
      const at = Date.parse(event.timestamp);
      assert.deepEqual(decodeLine(Buffer.from(text)), { ok: true, event, at, text });
    }
  });

  it("is found damaged whichever of its bytes is changed", () => {
    const bytes = Buffer.from(encodeLine(sample(1)));
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      assert.equal(decodeLine(changed).ok, false, `byte ${at}`);
    }
  });

  it("is found damaged wherever it is cut", () => {
    const bytes = Buffer.from(encodeLine(sample(1)));
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(decodeLine(bytes.subarray(0, length)).ok, false, `${length} bytes`);
    }
  });

  it("says why it is refused", () => {
    const sealed = (body: string) => Buffer.from(`${body.slice(0, -1)},"crc":"${crcOf(Buffer.from(body))}"}`);
    const reason = (line: Uint8Array) => {
      const decoded = decodeLine(line);
      return decoded.ok ? "ok" : decoded.reason;
    };
    assert.equal(reason(Buffer.from(JSON.stringify(sample(1)))), "no_crc");
    assert.equal(reason(Buffer.from(encodeLine(sample(1)).replace("human", "agent"))), "crc");
    assert.equal(reason(sealed('{"id":}')), "json");
    assert.equal(reason(sealed('{"id":1}')), "shape");
    assert.equal(reason(sealed(JSON.stringify(sample(1, { timestamp: "soon" })))), "shape");
    assert.equal(reason(sealed(JSON.stringify(sample(1)))), "ok");
  });
});
