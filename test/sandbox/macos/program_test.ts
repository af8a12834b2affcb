import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { resolveProgram } from "../../../src/sandbox/program.ts";
import { makePlace, type Place } from "../helpers.ts";

describe("programs of macOS", () => {
  let place: Place;
  before(() => (place = makePlace()));
  after(() => place.remove());
  const resolve = (start: number[], platform: string) => {
    const file = path.join(place.control, "program");
    writeFileSync(file, new Uint8Array([...start, 0, 0, 0, 0]), { mode: 0o755 });
    return resolveProgram("./program", { controlDir: place.control, platform }).ok;
  };

  it("are startable there and nowhere else, for one kind of machine or several", () => {
    for (const start of [[0xcf, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe]]) {
      assert.equal(resolve(start, "darwin"), true);
      assert.equal(resolve(start, "linux"), false);
    }
  });

  it("are not those of Linux", () => {
    assert.equal(resolve([0x7f, 0x45, 0x4c, 0x46], "darwin"), false);
  });
});
