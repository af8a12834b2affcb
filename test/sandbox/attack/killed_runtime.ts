import process from "node:process";
import { systemClock } from "../../../src/clock/clock.ts";
import { FIXED_PATH } from "../../../src/sandbox/environment.ts";
import { openSandbox } from "../../../src/sandbox/sandbox.ts";

/** A runtime that is killed by its test while it runs a tree that would not end by itself. */
const [controlDir = "", home = "", helperFolder = "", token = ""] = process.argv.slice(2);
const script = `trap "" TERM; (setsid sh -c 'sleep 300; :' ${token}) & (sleep 300; :) & sleep 300; :`;
await openSandbox({ helperFolders: [helperFolder] }).run({
  argv: ["/bin/sh", "-c", script, token],
  cwd: controlDir,
  env: { PATH: FIXED_PATH, KILL_CASE: token },
  policy: {
    controlDir,
    homes: [home],
    denyRead: [],
    readOnly: [],
    grants: { subprocess: true, network: false, writePaths: [] },
  },
  timeoutMs: 0,
  stdout: "ignore",
  clock: systemClock,
});
