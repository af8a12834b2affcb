// Approves COUNT commands of its own in the allowlist FILE: `allowlist_writer.ts FILE NAME COUNT`. With COUNT `hold` it takes
// the lock, says so and keeps it until it is killed.
import process from "node:process";
import { systemClock } from "../../src/clock/clock.ts";
import { openAllowlist } from "../../src/consent/allowlist.ts";
import { lockFor } from "../../src/consent/kernel_lock.ts";
import { key } from "./support.ts";

const [file = "", name = "", count = ""] = process.argv.slice(2);
if (count === "hold") {
  const lock = await lockFor(file, 0);
  console.log(lock.ok ? "held" : lock.reason);
  setInterval(() => lock.ok, 1000);
} else {
  const list = openAllowlist({ path: file, clock: systemClock, lockWaitMs: 60_000 });
  for (let i = 0; i < Number(count); i++) {
    const stored = await list.add(key({ argv: ["/bin/true", name, String(i)] }), name);
    if (stored.status !== "stored") {
      console.log(stored.reason);
      process.exitCode = 1;
    }
  }
}
