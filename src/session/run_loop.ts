import { sleep } from "../clock/clock.ts";
import type { InboxRow } from "../store/store.ts";
import type { SessionContext } from "./context.ts";
import { createLimit } from "./limit.ts";
import { type PlannedTurn, planTurn } from "./plan_turn.ts";
import { abandonTurn, resumeTurn, retryTurn, runTurn } from "./turn.ts";

/** More rows than an inbox holds: a drain sees all of it, so that nothing stands hidden behind passive messages. */
const WHOLE_INBOX = 4096;
/** Wakes after failed turns wait this long, doubled by each further failure. */
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

export interface RunLoop {
  /** Says that the inbox may hold something new. */
  poke(): void;
  /**
   * Takes turns until stopped or, with `untilIdle`, until no waking message is left, no event is queued and no hook runs in
   * the background.
   */
  run(options: { untilIdle: boolean }): Promise<void>;
  /** Lets the turn that runs come to its end, and takes no other. */
  finish(): void;
}

export function createRunLoop(context: SessionContext): RunLoop {
  const { journal, ports, settings, stopping } = context;
  let poked = false;
  let running = false;
  let finishing = false;
  /** What the inbox holds, while nothing has come in since it was read. */
  let known: readonly InboxRow[] | undefined;
  let wakeUp: (() => void) | undefined;
  const over = () => finishing || stopping.aborted;
  stopping.addEventListener("abort", () => wakeUp?.());

  const poke = () => {
    poked = true;
    known = undefined;
    wakeUp?.();
    if (!running) ports.wanted();
  };

  const waitForPoke = async (): Promise<void> => {
    if (!poked && !over()) {
      await new Promise<void>((resolve) => {
        wakeUp = resolve;
      });
      wakeUp = undefined;
    }
    poked = false;
  };

  /** Waits out the back-off of failed turns, unless something new comes in. */
  const waitOrPoke = async (ms: number): Promise<void> => {
    if (poked || over()) return;
    const cut = new AbortController();
    wakeUp = () => cut.abort();
    await sleep(ports.clock, ms, cut.signal);
    wakeUp = undefined;
  };

  /** What still runs and may put something into the inbox; armed timers are not waited for. */
  const background = (): Promise<unknown> | undefined => {
    const queued = ports.bus?.quiet();
    if (!ports.hooks.busy) return queued;
    return Promise.all([ports.hooks.drained(), queued]);
  };

  const limit = createLimit(context, poke);
  let failedAt = 0;
  /** Milliseconds that a turn from inside still has to wait. */
  const backoff = (): number => {
    const { errors } = journal.state;
    if (errors === 0 || failedAt === 0) return 0;
    const wait = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(errors - 1, 10));
    return failedAt + wait - ports.clock.monotonic();
  };

  const readInbox = async (): Promise<readonly InboxRow[]> => {
    poked = false;
    const rows = await ports.store.pending(context.id, WHOLE_INBOX);
    // What came in meanwhile may be missing from the rows.
    if (!poked) known = rows;
    return rows;
  };

  const recoverTurn = async (): Promise<void> => {
    if (!journal.state.current) return;
    if (settings.resume === "retry") await resumeTurn(context);
    else await abandonTurn(context);
  };

  /** Runs the turn; what it leaves in the inbox stays known unless it put something there itself. */
  const takeTurn = async (plan: PlannedTurn, pending: readonly InboxRow[]): Promise<void> => {
    known = undefined;
    poked = false;
    const before = journal.puts;
    const ran = await runTurn(context, plan);
    limit.turnRan();
    if (!ran || journal.puts !== before || poked) return;
    const gone = new Set([...plan.context, plan.trigger, ...plan.alongside]);
    known = pending.filter((row) => !gone.has(row));
  };

  /** Nothing can be done now: `done` where that is the end of the run. */
  const rest = async (untilIdle: boolean): Promise<"done" | "go_on"> => {
    const behind = background();
    if (behind) await Promise.race([behind, waitForPoke()]);
    else if (untilIdle && !poked) return "done";
    else await waitForPoke();
    return "go_on";
  };

  const riding = (pending: readonly InboxRow[]): InboxRow[] =>
    pending.filter((row) => !row.wake || row.kind === "hook");

  const takeTurns = async (untilIdle: boolean): Promise<void> => {
    await recoverTurn();
    while (!over()) {
      if (journal.state.suspended !== null) {
        const queued = await ports.store.pending(context.id, WHOLE_INBOX);
        const waiting = queued.filter((row) => row.wake).length;
        ports.observe({ type: "suspended", session: context.id, hook: journal.state.suspended, waiting });
        if (untilIdle) {
          poked = false;
          return;
        }
        await waitForPoke();
        continue;
      }
      const pending = known ?? await readInbox();
      if (journal.state.retry && settings.resume === "retry") {
        known = undefined;
        await retryTurn(context, riding(pending));
        continue;
      }
      const plan = planTurn(pending, journal.state.valve, settings.cap);
      switch (plan.next) {
        case "idle":
          if (await rest(untilIdle) === "done") return;
          break;
        case "limit": {
          known = undefined;
          const standing = await limit.over(plan.held, { patient: !untilIdle });
          if (standing === "asking") await waitForPoke();
          else if (standing === "open" && await rest(untilIdle) === "done") return;
          break;
        }
        case "turn": {
          const wait = plan.driven ? backoff() : 0;
          if (wait > 0) {
            ports.observe({ type: "backing_off", ms: Math.ceil(wait) });
            await waitOrPoke(wait);
            break;
          }
          await takeTurn(plan, pending);
          failedAt = journal.state.errors > 0 ? ports.clock.monotonic() : 0;
          break;
        }
      }
    }
  };

  return {
    poke,
    async run({ untilIdle }) {
      running = true;
      try {
        await takeTurns(untilIdle);
      } finally {
        running = false;
      }
      // Between its last look and here something may have come in.
      if (poked && untilIdle && !over()) ports.wanted();
    },
    finish() {
      finishing = true;
      wakeUp?.();
    },
  };
}
