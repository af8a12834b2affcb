import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { check, type Shown } from "./check.ts";
import type { Damage } from "./damage.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type Ended, misbehaviour } from "./process.ts";
import { replay } from "./replay.ts";
import { readStored, type Stored } from "./stored.ts";
import { createWorld, type Flavour, type World } from "./world.ts";

/** What is damaged: a state folder with commits in its `-wal`. */
export interface Base {
  flavour: Flavour;
  sizes: { db: number; wal: number };
  /** Without what the `-wal` holds. */
  least: Stored;
  most: Stored;
  sent: readonly { session: string; text: string }[];
  copyTo(controlDir: string): Promise<void>;
  remove(): Promise<void>;
}

export interface DamageOutcome {
  how: "whole" | "prefix" | "refused";
  violations: string[];
}

const SESSION = "default/s1";
const AFTER = "after the damage";

export async function tryDamage(binaries: Binaries, base: Base, damage: Damage): Promise<DamageOutcome> {
  const world = await createWorld(binaries, base.flavour);
  const violations: string[] = [];
  const violated = (text: string) => void violations.push(`${damage.name}: ${text}`);
  await base.copyTo(world.dir);
  await damage.apply(world.stateDir);
  const before = await fingerprints(world.stateDir);

  const view = await world.run(["sessions", "show", "--json", SESSION], { limitMs: 60_000 });
  const seen = judge(view, violated, "sessions show");
  const shown = seen ? (JSON.parse(view.stdout) as Shown).history : undefined;
  if (shown) checkHistory(shown, base, damage, violated);
  for (const [name, print] of before) {
    if (name.endsWith("-shm")) continue;
    if ((await fingerprints(world.stateDir)).get(name) !== print) violated(`sessions show changed ${name}`);
  }

  const run = await world.run(["run", "--json", "--session", "s1", "-"], { stdin: AFTER, limitMs: 60_000 });
  const ran = judge(run, violated, "run");
  let how: DamageOutcome["how"] = "refused";
  if (ran) {
    const length = await checkAfter(world, base, damage, violated);
    const most = historyOf(base.most, base.flavour).length;
    how = length === most ? "whole" : "prefix";
    if (shown && shown.length !== length) {
      violated(`sessions show saw ${shown.length} messages, run ${length}`);
    }
  } else {
    if (damage.allowed !== "any") violated(`refused: ${run.stderr.slice(0, 200)}`);
    // One damaged value stops its own session only; the store goes on for the others.
    const oneSession = run.stderr.includes(`session ${SESSION}:`);
    if (!oneSession) await checkKept(world, before, violated);
    await checkNextStart(world, run, violated);
    if (!oneSession) await checkKept(world, before, violated);
  }
  if (violations.length === 0) await rm(dirname(world.dir), { recursive: true, force: true });
  return { how, violations: violations.map((text) => `${text}\n    kept: ${world.dir}`) };
}

/** Kills the start that sets a damaged database aside, between any two of its renames. */
export async function trySetAside(binaries: Binaries, base: Base): Promise<DamageOutcome> {
  const violations: string[] = [];
  for (const killAt of ["store:before_set_aside", ...[1, 2, 3, 4].map((n) => `store:in_set_aside:${n}`)]) {
    const world = await createWorld(binaries, base.flavour);
    const violated = (text: string) => void violations.push(`${killAt}: ${text}\n    kept: ${world.dir}`);
    await base.copyTo(world.dir);
    await truncate(join(world.stateDir, "reyn.db"), 4096 + 100);
    const before = await fingerprints(world.stateDir);
    const run = await world.run(["run", "--session", "s1", "x"], { killAt });
    if (run.signal !== "SIGKILL") violated(`was not killed: ${run.code} ${run.stderr.slice(0, 200)}`);
    await checkKept(world, before, violated);
    let last: Ended | undefined;
    for (let i = 0; i < 3 && last?.code !== 0; i++) {
      last = await world.run(["run", "--session", "s1", "x"]);
      judge(last, violated, "the next start");
      await checkKept(world, before, violated);
    }
    if (last?.code !== 0) violated("no start succeeds any more");
    if (violations.length === 0) await rm(dirname(world.dir), { recursive: true, force: true });
  }
  return { how: "refused", violations };
}

/** True when it worked, false when it refused in good order. */
function judge(run: Ended, violated: (text: string) => void, what: string): boolean {
  const wrong = misbehaviour(run);
  if (wrong) violated(`${what}: ${wrong}`);
  if (run.code !== 0 && run.code !== 1) violated(`${what}: exit ${run.code}: ${run.stderr.slice(0, 200)}`);
  if (run.code === 1 && !/E_STATE_|E_SESSION_UNKNOWN/.test(run.stderr)) {
    violated(`${what}: refused with another code: ${run.stderr.slice(0, 200)}`);
  }
  return run.code === 0;
}

type HistoryLine = { id: string; text: string };

function historyOf(stored: Stored, flavour: Flavour): HistoryLine[] {
  const session = stored.sessions.find(({ id }) => id === SESSION);
  return session ? replay(session, flavour.cap).history : [];
}

/** What is there is a beginning of what was, and no shorter than what the damage spared. */
function checkHistory(
  found: readonly HistoryLine[],
  base: Base,
  damage: Damage,
  violated: (text: string) => void,
): void {
  const most = historyOf(base.most, base.flavour);
  const least = damage.allowed === "keeps"
    ? most.length
    : damage.allowed === "prefix"
    ? historyOf(base.least, base.flavour).length
    : 0;
  if (found.length < least) violated(`${found.length} messages are left, at least ${least} were spared`);
  // Context joins a turn before its message, so the last turn may differ in order.
  const known = new Map(most.map(({ id, text }) => [id, text]));
  for (const { id, text } of found) {
    if (known.get(id) === text) continue;
    violated(known.has(id) ? `${id} has another text` : `${id} is new`);
  }
}

/** The run worked: its own message is there, what was there before is still right, and the store agrees with itself. */
async function checkAfter(
  world: World,
  base: Base,
  damage: Damage,
  violated: (text: string) => void,
): Promise<number> {
  // Another session's values may be damaged, which is none of this one's business.
  const stored = await readStored(world.stateDir, SESSION);
  const ledger = looseLedger(base);
  if (stored) {
    for (const one of check(stored, ledger, { flavour: base.flavour, settled: false })) violated(one);
  }
  const session = stored?.sessions.find(({ id }) => id === SESSION);
  const history = session ? replay(session, base.flavour.cap).history : [];
  const at = session?.records.findLastIndex(({ record }) => record.t === "opened") ?? 0;
  const old = session
    ? replay(
      { ...session, records: session.records.slice(0, at), walSeq: at, snapshot: undefined },
      base.flavour.cap,
    )
    : undefined;
  if (!history.some(({ text }) => text === AFTER)) violated("the run took a message that is not there");
  checkHistory(old?.history ?? [], base, damage, violated);
  return old?.history.length ?? 0;
}

/** Nothing is known to be acknowledged any more. */
function looseLedger(base: Base): Ledger {
  const ledger = createLedger();
  for (const { session, text } of base.sent) ledger.sent.push({ session, text, fate: "unknown" });
  const nobody = { args: [], code: null, signal: null, stdout: "", stderr: "", ms: 0, hung: false };
  ledger.record(SESSION, nobody, AFTER);
  return ledger;
}

/** Whatever a refused start found is still there, byte for byte, under whatever name. */
async function checkKept(
  world: World,
  before: ReadonlyMap<string, string>,
  violated: (text: string) => void,
): Promise<void> {
  const now = new Set((await fingerprints(world.stateDir)).values());
  for (const [name, print] of before) {
    if (!name.startsWith("reyn.db") || name.endsWith("-shm")) continue;
    if (!now.has(print)) violated(`${name} was refused and is not kept as it was`);
  }
}

/** A store that was set aside makes room for a new one; anything else is refused again. */
async function checkNextStart(world: World, refused: Ended, violated: (text: string) => void): Promise<void> {
  const setAside = (await readdir(world.stateDir).catch(() => [])).some((name) => name.includes(".damaged-"));
  if (refused.stderr.includes("is kept as") && !setAside) violated("said that it is kept, but it is not");
  const next = await world.run(["run", "--session", "s1", "again"], { limitMs: 60_000 });
  const worked = judge(next, violated, "the next start");
  if (setAside && !worked) violated(`the next start still fails: ${next.stderr.slice(0, 200)}`);
  if (setAside && worked && !next.stderr.includes("damaged")) {
    violated("the empty start says nothing of what lies beside");
  }
}

/** What each name of the folder holds; a folder counts by name. */
async function fingerprints(dir: string): Promise<Map<string, string>> {
  const prints = new Map<string, string>();
  const names = await readdir(dir).catch(() => []);
  for (const name of names) {
    const path = join(dir, name);
    const found = await stat(path);
    prints.set(
      name,
      found.isFile() ? createHash("sha256").update(await readFile(path)).digest("hex") : "folder",
    );
  }
  return prints;
}
