import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { readLine } from "../../src/cli/read_line.ts";

const never = new AbortController().signal;

describe("readLine()", () => {
  it("reads one line, in however many pieces, and drops what was typed behind it", async () => {
    const input = new PassThrough();
    const line = readLine(input, never);
    input.write("ye");
    await new Promise((resolve) => setTimeout(resolve, 5));
    input.write("s\nA\n");
    assert.equal(await line, "yes");
    const next = readLine(input, never);
    input.write("n\n");
    assert.equal(await next, "n");
  });

  it("is over at the end of input, when it is aborted, and after either", async () => {
    const input = new PassThrough();
    const cut = new AbortController();
    const line = readLine(input, cut.signal);
    cut.abort();
    assert.equal(await line, undefined);
    const last = readLine(input, never);
    input.end("half");
    assert.equal(await last, undefined);
    assert.equal(await readLine(input, never), undefined);
  });

  it("takes a line that is longer than any answer for none", async () => {
    const input = new PassThrough();
    const line = readLine(input, never);
    input.write(`y${" ".repeat(5000)}`);
    input.write(`${" ".repeat(5000)}\n`);
    assert.equal(await line, "");
    const next = readLine(input, never);
    input.write(`${"y".repeat(4096)}\n`);
    assert.equal((await next)?.length, 4096);
  });
});
