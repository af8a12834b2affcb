// Records trust in COUNT folders of its own in the file FILE: `trust_writer.ts FILE NAME COUNT`.
import process from "node:process";
import { systemClock } from "../../src/clock/clock.ts";
import { openTrustFile } from "../../src/consent/trust_file.ts";

const [path = "", name = "", count = ""] = process.argv.slice(2);
const file = openTrustFile({ path, clock: systemClock, lockWaitMs: 60_000 });
for (let i = 0; i < Number(count); i++) {
  const stored = await file.store({
    folder: `/srv/${name}/${i}`,
    trustedAt: "2026-11-30T12:00:00.000Z",
    keys: [],
  });
  if (stored.status !== "stored") {
    console.log(stored.reason);
    process.exit(1);
  }
}
