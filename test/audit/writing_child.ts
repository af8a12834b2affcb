import process from "node:process";
import { openAudit } from "../../src/audit/writer.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";

/** Emits without end into the folder that it is given; prints the number of the last event that a flush confirmed. */
const [dir = ""] = process.argv.slice(2);
const audit = openAudit({ dir, clock: systemClock, ids: randomIds(), pid: process.pid, flushMs: 1 });
for (let seq = 1;; seq++) {
  audit.emit("turn_settled", "default/main", { kind: "human", chain_id: null, seq });
  if (seq % 50 !== 0) continue;
  await audit.flush();
  process.stdout.write(`${seq}\n`);
}
