import { Buffer } from "node:buffer";
import { readSync, writeSync } from "node:fs";
import process from "node:process";
import { encodeFrame, GREETING, KIND, PROTOCOL } from "../../../src/sandbox/wasm/frames.ts";

/** A process that says it runs plugins, and does otherwise at the first call. The first argument names how. */
const [, , mode = ""] = process.argv;
const heard = Buffer.alloc(64 * 1024);
const hear = () => {
  if (readSync(0, heard, 0, heard.length, null) === 0) process.exit(0);
};
hear();
writeSync(1, encodeFrame(KIND.hello, { greeting: GREETING, protocol: PROTOCOL, pid: process.pid }));
hear();
switch (mode) {
  case "noise":
    writeSync(1, Buffer.alloc(1000, 0xff));
    break;
  case "dies_in_a_frame":
    writeSync(1, Uint8Array.from([200, 0, 0, 0, KIND.result, 1]));
    process.exit(0);
    break;
  case "two_results":
    for (let i = 0; i < 2; i++) writeSync(1, encodeFrame(KIND.result, undefined, new Uint8Array(13)));
    break;
}
for (;;) hear();
