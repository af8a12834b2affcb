import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkAudit } from "./audit_check.ts";
import type { Binaries } from "./binaries.ts";
import { check, type Shown } from "./check.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type Ended, misbehaviour } from "./process.ts";
import { readStored } from "./stored.ts";
import { createWorld, type Flavour, type RunOptions, type World } from "./world.ts";

/** A control folder with all that is known of it from outside, and what was found wrong. */
export interface Campaign {
  readonly world: World;
  readonly ledger: Ledger;
  readonly violations: readonly string[];
  /** Enters what was found wrong, with the last actions. */
  violated(what: string): void;
  /** Notes an action, for the one who has to see a violation again. */
  log(action: string): void;
  /** Runs a session to its end, a message on stdin with `text`, and enters it in the ledger. */
  run(session: string, options?: RunOptions & { text?: string }): Promise<Ended>;
  /** Enters a process that was started otherwise. `killed`: it may end by that signal. */
  enter(session: string, run: Ended, text?: string): void;
  /** Compares store and ledger; no process may be running. */
  check(settled: boolean, shown?: ReadonlyMap<string, Shown>): Promise<void>;
  /** Runs every session until idle and checks everything. */
  settle(): Promise<void>;
  /** Removes the folder, or keeps it where something was violated; answers the violations, ready to print. */
  finish(reproduce: string): Promise<string[]>;
}

const LAST_ACTIONS = 12;

export async function startCampaign(binaries: Binaries, flavour: Flavour): Promise<Campaign> {
  const world = await createWorld(binaries, flavour);
  const ledger = createLedger();
  const violations: string[] = [];
  const actions: string[] = [];
  const log = (action: string) => void actions.push(action);
  const violated = (text: string) => {
    if (violations.length < 20) {
      violations.push(`${text} [after: ${actions.slice(-LAST_ACTIONS).join("; ")}]`);
    }
  };

  const enter = (session: string, run: Ended, text?: string) => {
    ledger.record(session, run, text);
    const wrong = misbehaviour(run);
    if (wrong) violated(`${session}: ${wrong}`);
  };

  const checkNow = async (settled: boolean, shown?: ReadonlyMap<string, Shown>) => {
    const stored = await readStored(world.stateDir);
    const options = { flavour: world.flavour, settled, ...(shown ? { shown } : {}) };
    for (const one of check(stored, ledger, options)) violated(one);
  };

  const campaign: Campaign = {
    world,
    ledger,
    violations,
    violated,
    log,
    enter,
    async run(session, { text, ...options } = {}) {
      const args = ["run", "--json", "--session", sidOf(session), ...text === undefined ? [] : ["-"]];
      const run = await world.run(args, { ...options, ...(text === undefined ? {} : { stdin: text }) });
      enter(session, run, text);
      return run;
    },
    check: checkNow,
    async settle() {
      log("settle");
      for (const session of ledger.sessions) {
        const run = await campaign.run(session);
        if (run.code !== 0) {
          violated(`${session}: running until idle gave ${run.code}: ${run.stderr.slice(0, 300)}`);
        }
      }
      const shown = new Map<string, Shown>();
      for (const session of ledger.sessions) {
        const view = await world.run(["sessions", "show", "--json", session]);
        const wrong = misbehaviour(view) ?? (view.code === 0 ? undefined : view.stderr);
        if (wrong === undefined) shown.set(session, JSON.parse(view.stdout) as Shown);
        else violated(`sessions show ${session}: ${wrong}`);
      }
      await checkNow(true, shown);
      const audit = await checkAudit(join(world.dir, ".reyn", "events"));
      for (const one of audit.violations) violated(one);
      const events = await world.run(["events", "--json"]);
      const lines = events.stdout.split("\n").length - 1;
      if (events.code !== 0) violated(`reyn events gave ${events.code}: ${events.stderr.slice(0, 300)}`);
      // A file whose end was cut off may be told of; what is whole must all be there.
      if (lines < audit.lines) violated(`reyn events shows ${lines} lines, there are ${audit.lines}`);
    },
    async finish(reproduce) {
      if (violations.length === 0) {
        await rm(dirname(world.dir), { recursive: true, force: true });
        return [];
      }
      return violations.map((text) => `${text}\n    again: ${reproduce}\n    kept: ${world.dir}`);
    },
  };
  return campaign;
}

function sidOf(session: string): string {
  return session.slice(session.indexOf("/") + 1);
}
