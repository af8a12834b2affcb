import process from "node:process";
import { systemClock } from "../../src/clock/clock.ts";
import { createGuardedFetch } from "../../src/egress/guarded_fetch.ts";
import { hosts } from "./server.ts";

/** Asks http://name.test:PORT/, which is on this machine, and prints what came of it. */
const port = process.argv[2] ?? "";
const guarded = createGuardedFetch({ clock: systemClock, resolve: async () => ["127.0.0.1"] });
const result = await guarded({ url: `http://name.test:${port}/`, allow: hosts("name.test", "127.0.0.1") });
process.stdout.write(
  result.outcome === "ok" ? new TextDecoder().decode(result.body) : JSON.stringify(result),
);
