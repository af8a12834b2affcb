import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../clock/clock.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { InboxMessage } from "../store/store.ts";
import type { Session } from "../session/session.ts";

export interface LoadedSession {
  readonly id: string;
  readonly session: Session;
  /** Turns are being taken. */
  readonly active: boolean;
}

/**
 * The sessions that this process has loaded. One is loaded when something is there for it, takes turns until it is idle,
 * and is given up after a while; each runs by itself, so that none waits for another.
 */
export interface LoadedSessions {
  /** The session, loaded when it is not. Throws what keeps it from loading. */
  load(ref: SessionRef): Promise<Session>;
  /**
   * Puts a message in an inbox, durable when resolved, and sees to it that a session with a waking message takes a turn.
   * Throws E_MESSAGE_TOO_LARGE or E_INBOX_FULL.
   */
  accept(ref: SessionRef, message: InboxMessage): Promise<"stored" | "duplicate">;
  /** Says that something is in a session's inbox; a waking message loads the session where it is not. Never throws. */
  arrived(id: string, waking: boolean): void;
  /** Lets a loaded session take the turns that are there for it. */
  start(session: Session): void;
  list(): readonly LoadedSession[];
  /** The session if it is loaded. */
  loaded(id: string): LoadedSession | undefined;
  /** Resolves when this session takes no turns, and is not on its way out. */
  settled(id: string): Promise<void>;
  /**
   * Ends one session, which is loaded for it where it is not: a turn that runs is interrupted, `session_end` fires. What is
   * queued stays; what comes in from now on opens the session anew.
   */
  end(ref: SessionRef): Promise<void>;
  /** Resolves when no session has anything left to do. */
  idle(): Promise<void>;
  /** Stops taking turns, everywhere and for good; a turn that runs is interrupted. */
  stop(): void;
  /** Starts no further turn, for good; resolves when those that run have ended. */
  drain(): Promise<void>;
  /** Ends every loaded session: `session_end` fires in each. */
  close(): Promise<void>;
}

export interface LoadedSessionsOptions {
  clock: Clock;
  /** `wanted` is to be called when the session's inbox may hold something while it takes no turns. */
  open(ref: SessionRef, wanted: () => void): Promise<Session>;
  put(id: string, message: InboxMessage): Promise<"stored" | "duplicate">;
  /** Told of a session that could not be loaded, run or ended; the others go on. */
  onFailure(id: string, error: unknown): void;
  /** Told of a session that was unloaded or has ended. */
  onGone(ref: SessionRef): void;
  /** How long a session stays loaded with nothing to do. */
  keepMs: number;
  /** Sessions kept loaded at most; the one idle the longest goes first. */
  most: number;
}

/** Sessions that load or end at the same time. */
const AT_ONCE = 8;
/** One whose hooks take longer than this does not hold up the others. */
const SLOW_MS = 200;

interface Entry {
  id: string;
  loading: Promise<Session>;
  session: Session | undefined;
  job: Promise<void> | undefined;
  /** Asked for while it was finishing. */
  again: boolean;
  /** Set while it ends: whether a waking message came in too late for it. */
  ending: { late: boolean } | undefined;
  idleSince: number;
}

export function loadedSessions(options: LoadedSessionsOptions): LoadedSessions {
  const { clock, onFailure, keepMs, most } = options;
  const entries = new Map<string, Entry>();
  /** Sessions on their way out, which have to be gone before they load again. */
  const leaving = new Map<string, Promise<void>>();
  const slots = limiter(AT_ONCE, SLOW_MS, clock);
  let stopped = false;
  let waiting: (() => void)[] = [];
  let cancelSweep: (() => void) | undefined;

  const settle = () => {
    if ([...entries.values()].some(({ job }) => job !== undefined)) return;
    const ready = waiting;
    waiting = [];
    for (const resolve of ready) resolve();
  };

  const entryOf = (ref: SessionRef): Entry => {
    const id = `${ref.agent}/${ref.sid}`;
    const known = entries.get(id);
    if (known) return known;
    const before = leaving.get(id) ?? Promise.resolve();
    const wanted = () => {
      if (!stopped && entries.get(id) === entry) run(entry);
    };
    const loading = before.then(() => slots(() => options.open(ref, wanted)));
    const entry: Entry = {
      id,
      loading,
      session: undefined,
      job: undefined,
      again: false,
      ending: undefined,
      idleSince: clock.monotonic(),
    };
    entries.set(id, entry);
    loading.then((session) => {
      entry.session = session;
      if (stopped) session.stop();
    }, () => entries.delete(id));
    return entry;
  };

  const run = (entry: Entry): void => {
    if (entry.job) {
      entry.again = true;
      return;
    }
    const work = async (): Promise<void> => {
      try {
        const session = await entry.loading;
        // Who put the message in hears of it before its turn takes the thread.
        await nextTurn();
        do {
          entry.again = false;
          await session.run({ untilIdle: true });
        } while (entry.again && !stopped);
      } catch (error) {
        entries.delete(entry.id);
        if (entry.session) abandon(entry, entry.session);
        onFailure(entry.id, error);
      } finally {
        entry.job = undefined;
        entry.idleSince = clock.monotonic();
        settle();
        sweepLater();
      }
    };
    entry.job = work();
  };

  const arrived = (id: string, waking: boolean): void => {
    if (stopped) return;
    const entry = entries.get(id);
    if (entry?.ending) entry.ending.late ||= waking;
    else if (entry?.session) entry.session.poke();
    else if (entry || waking) run(entry ?? entryOf(refOf(id)));
  };

  /** Nothing waits for it any more, unless the session is on its way out for another time. */
  const left = (id: string, gone: Promise<void>): boolean => leaving.get(id) === gone && leaving.delete(id);

  const unload = (entry: Entry, session: Session): void => {
    entries.delete(entry.id);
    const failed = async (error: unknown): Promise<void> => {
      await session.abandon();
      onFailure(entry.id, error);
    };
    const gone = session.unload().catch(failed).finally(() => {
      left(entry.id, gone);
      options.onGone(refOf(entry.id));
    });
    leaving.set(entry.id, gone);
  };

  /** Before it is opened anew nothing of it may be left, or both would act, and write the same file. */
  const abandon = (entry: Entry, session: Session): void => {
    const gone = session.abandon().finally(() => {
      if (left(entry.id, gone)) options.onGone(refOf(entry.id));
    });
    leaving.set(entry.id, gone);
  };

  const endOf = async (entry: Entry): Promise<void> => {
    const session = await entry.loading;
    session.stop();
    await entry.job;
    entries.delete(entry.id);
    try {
      await slots(() => session.close());
    } catch (error) {
      await session.abandon();
      throw error;
    }
  };

  /** Gives up what has been idle for long, and what is too many. */
  const sweep = (): void => {
    const now = clock.monotonic();
    const idle = [...entries.values()]
      .filter(({ job, session, ending }) => !job && session && !session.busy && !ending)
      .sort((a, b) => a.idleSince - b.idleSince);
    let over = entries.size - most;
    for (const entry of idle) {
      if (!entry.session || (over <= 0 && now - entry.idleSince < keepMs)) continue;
      over -= 1;
      unload(entry, entry.session);
    }
  };

  const sweepLater = (): void => {
    if (stopped || cancelSweep) return;
    cancelSweep = clock.after(entries.size > most ? 0 : keepMs, () => {
      cancelSweep = undefined;
      if (stopped) return;
      sweep();
      if (entries.size > 0) sweepLater();
    });
  };

  return {
    async load(ref) {
      if (stopped) throw stopping();
      const entry = entryOf(ref);
      entry.idleSince = clock.monotonic();
      const session = await entry.loading;
      sweepLater();
      return session;
    },
    async accept(ref, message) {
      const id = `${ref.agent}/${ref.sid}`;
      const entry = entries.get(id);
      if (entry?.session && !entry.ending) {
        const answer = await entry.session.accept(message);
        // It may have gone while the message was being stored.
        if (answer === "stored" && (entry.ending || entries.get(id) !== entry)) arrived(id, message.wake);
        return answer;
      }
      const answer = await options.put(id, message);
      if (answer === "stored") arrived(id, message.wake);
      return answer;
    },
    arrived,
    start(session) {
      const entry = entries.get(session.id);
      if (entry && !stopped) run(entry);
    },
    list: () =>
      [...entries.values()].flatMap(({ id, session, job }) =>
        session ? [{ id, session, active: job !== undefined }] : []
      ),
    loaded(id) {
      const entry = entries.get(id);
      return entry?.session && { id, session: entry.session, active: entry.job !== undefined };
    },
    async settled(id) {
      for (;;) {
        const under = entries.get(id)?.job ?? leaving.get(id);
        if (!under) return;
        await under;
      }
    },
    async end(ref) {
      if (stopped) throw stopping();
      const entry = entryOf(ref);
      if (entry.ending) return await leaving.get(entry.id);
      entry.ending = { late: false };
      const { ending } = entry;
      const gone = endOf(entry).finally(() => {
        left(entry.id, quiet);
        options.onGone(ref);
        if (ending.late) arrived(entry.id, true);
      });
      const quiet = gone.catch(() => {});
      leaving.set(entry.id, quiet);
      await gone;
    },
    idle: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        settle();
      }),
    stop() {
      stopped = true;
      cancelSweep?.();
      for (const { session } of entries.values()) session?.stop();
    },
    async drain() {
      stopped = true;
      cancelSweep?.();
      for (const { session } of entries.values()) session?.finish();
      await Promise.all([...entries.values()].flatMap(({ job }) => job ?? []));
    },
    async close() {
      stopped = true;
      cancelSweep?.();
      await Promise.all([...leaving.values()]);
      const loaded = [...entries.values()];
      entries.clear();
      const ends = loaded.map(async (entry) => {
        await entry.job;
        const session = await entry.loading.catch(() => undefined);
        if (session) await slots(() => session.close());
      });
      const ended = await Promise.allSettled(ends);
      const failed = ended.find((one) => one.status === "rejected");
      if (failed) throw failed.reason;
    },
  };
}

function stopping(): ReynError {
  return new ReynError("E_STOPPING", "reyn is stopping and loads no session");
}

function refOf(id: string): SessionRef {
  const slash = id.indexOf("/");
  return { agent: id.slice(0, slash), sid: id.slice(slash + 1) };
}

/**
 * Lets at most `most` begin at the same time, the others in the order in which they came. What takes longer than `slowMs`
 * gives its place to another.
 */
function limiter(most: number, slowMs: number, clock: Clock): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => queue.push(resolve));
    else running += 1;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    };
    const cancel = clock.after(slowMs, leave);
    try {
      return await work();
    } finally {
      cancel();
      leave();
    }
  };
}
