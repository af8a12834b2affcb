// Run as a process of its own by state_lock_test.ts: tries for the lock of DIR, tells how it went and, holding it, stays.
import { writeSync } from "node:fs";
import { acquireStateLock } from "../../src/store/state_lock.ts";

const [dir = "", verb = ""] = process.argv.slice(2);
const lock = acquireStateLock({ dir, holder: { verb, pid: process.pid, startedAt: 1234 } });
writeSync(1, `${lock.status}\n`);
if (lock.status === "acquired") setInterval(() => {}, 1000);
