import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { exists } from "../../lib/repo.ts";
import { ask } from "./ask.ts";
import { checkAudit } from "./audit_check.ts";
import type { Binaries } from "./binaries.ts";
import { readPendingFiles } from "./pending_files.ts";
import { type Ended, misbehaviour, pause, type Started } from "./process.ts";
import type { Random } from "./random.ts";
import { type Senders, startSenders } from "./senders.ts";
import { checkServed } from "./server_check.ts";
import { createServerWorld, type ServerWorld } from "./server_world.ts";
import { readStored } from "./stored.ts";

/** A served folder under load, with all that is known of it from outside, and what was found wrong. */
export interface ServerCampaign {
  readonly world: ServerWorld;
  readonly senders: Senders;
  readonly violations: readonly string[];
  violated(what: string): void;
  log(action: string): void;
  /** Enters how a process ended. */
  enter(run: Ended): void;
  /** Compares store and ledger; no server may be running. */
  check(settled?: boolean): Promise<void>;
  /** Makes ids old enough to be forgotten, and files old enough to be removed; no server may be running. */
  age(): Promise<void>;
  /** Runs gc in the server, without waiting for it to end. */
  gc(): void;
  /** Serves until everything is answered and taken, stops in order, and checks everything. */
  settle(): Promise<void>;
  /** Removes the folder, or keeps it where something was violated; answers the violations, ready to print. */
  finish(reproduce: string): Promise<string[]>;
}

const LAST_ACTIONS = 12;
const SETTLE_MS = 150_000;
const FIRED_MS = 10_000;
const WEEK_AND_A_DAY_MS = 8 * 24 * 3600 * 1000;

export async function startServerCampaign(binaries: Binaries, random: Random): Promise<ServerCampaign> {
  const world = await createServerWorld(binaries);
  const senders = startSenders(world, random);
  const violations: string[] = [];
  const actions: string[] = [];
  const log = (action: string) => void actions.push(action);
  const violated = (text: string) => {
    if (violations.length < 20) {
      violations.push(`${text} [after: ${actions.slice(-LAST_ACTIONS).join("; ")}]`);
    }
  };
  const enter = (run: Ended) => {
    const wrong = misbehaviour(run);
    if (wrong) violated(wrong);
  };
  const check = async (settled = false) => {
    const stored = await readStored(world.stateDir);
    const pending = await readPendingFiles(world.dir);
    for (const one of checkServed(stored, senders.sent, { settled, pending })) violated(one);
    for (const one of senders.violations) violated(one);
  };

  return {
    world,
    senders,
    violations,
    violated,
    log,
    enter,
    check,
    async age() {
      const path = join(world.stateDir, "reyn.db");
      // It may have been killed before it had made one.
      if (!await exists(path)) return;
      const db = new DatabaseSync(path);
      // Who has no answer yet may send again, so its id has to stay.
      const open = senders.sent.filter(({ acknowledged }) => !acknowledged).map(({ id }) => id);
      const made =
        db.prepare("SELECT 1 FROM pragma_table_info('message') WHERE name = 'at'").get() !== undefined;
      const age = made &&
        db.prepare("UPDATE message SET at = at - ? WHERE id NOT IN (SELECT value FROM json_each(?))");
      if (age) age.run(WEEK_AND_A_DAY_MS, JSON.stringify(open));
      db.close();
      await mkdir(world.eventsDir, { recursive: true });
      for (const day of ["01", "02", "03"]) {
        await writeFile(join(world.eventsDir, `2020-01-${day}-1.jsonl`), "");
        await writeFile(join(world.stateDir, `reyn.db.damaged-202001${day}T000000Z`), "old");
      }
    },
    gc() {
      ask({ to: { socketPath: world.socket }, path: "/api/gc", body: {}, limitMs: 30_000 }).catch(() => {});
    },
    async settle() {
      log("settle");
      const server = world.serve();
      if (!await server.saw("\n")) {
        senders.abandon();
        return violated(`it does not start: ${(await server.ended).stderr.slice(0, 300)}`);
      }
      const finished = Promise.race([senders.finish().then(() => true), pause(SETTLE_MS).then(() => false)]);
      if (!await finished) {
        violated("not all messages were answered in time");
        senders.abandon();
      } else if (!await idle(world, server)) violated("the sessions did not become idle in time");
      else if (!await fired(world)) violated("what composers had pending did not fire in time");
      // What follows is read from what gc leaves.
      const cleaned = await ask({
        to: { socketPath: world.socket },
        path: "/api/gc",
        body: {},
        limitMs: 30_000,
      })
        .catch(() => undefined);
      if (cleaned?.status !== 200) {
        violated(`gc at the end: ${cleaned?.status} ${cleaned?.body.slice(0, 200)}`);
      }
      server.kill("SIGTERM");
      const run = await server.ended;
      enter(run);
      if (run.code !== 143) {
        violated(`SIGTERM ended it with ${run.signal ?? run.code}: ${run.stderr.slice(0, 300)}`);
      }
      await check(true);
      const audit = await checkAudit(world.eventsDir);
      for (const one of audit.violations) violated(one);
    },
    async finish(reproduce) {
      if (violations.length === 0) {
        await rm(world.root, { recursive: true, force: true });
        return [];
      }
      senders.abandon();
      return violations.map((text) => `${text}\n    again: ${reproduce}\n    kept: ${world.dir}`);
    },
  };
}

/** No composer has anything pending. */
async function fired(world: ServerWorld): Promise<boolean> {
  const until = performance.now() + FIRED_MS;
  while (performance.now() < until) {
    const { sessions } = await readPendingFiles(world.dir);
    if ([...sessions.values()].every(({ size }) => size === 0)) return true;
    await pause(50);
  }
  return false;
}

/** Nothing waits to wake a session and no session runs. */
async function idle(world: ServerWorld, server: Started): Promise<boolean> {
  const until = performance.now() + SETTLE_MS;
  let calm = 0;
  while (performance.now() < until) {
    await pause(50);
    const answer = await ask({ to: { socketPath: world.socket }, path: "/metrics" }).catch(() => undefined);
    if (!answer) {
      if (server.stdout() === "" || calm === 0) continue;
      return false;
    }
    const number = (name: string) =>
      Number(new RegExp(`^${name} (\\d+)`, "m").exec(answer.body)?.[1] ?? Number.NaN);
    const busy = number('reyn_inbox_messages\\{wake="true"\\}') + number('reyn_sessions\\{state="active"\\}');
    calm = busy === 0 ? calm + 1 : 0;
    if (calm >= 3) return true;
  }
  return false;
}
