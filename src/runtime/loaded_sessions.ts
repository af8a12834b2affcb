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
  /** Resolves when no session has anything left to do. */
  idle(): Promise<void>;
  /** Stops taking turns, everywhere and for good; a turn that runs is interrupted. */
  stop(): void;
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
  /** How long a session stays loaded with nothing to do. */
  keepMs: number;
  /** Sessions kept loaded at most; the one idle the longest goes first. */
  most: number;
}

/** Sessions that load or end at the same time. */
const AT_ONCE = 8;

interface Entry {
  id: string;
  loading: Promise<Session>;
  session: Session | undefined;
  job: Promise<void> | undefined;
  /** Asked for while it was finishing. */
  again: boolean;
  idleSince: number;
}

export function loadedSessions(options: LoadedSessionsOptions): LoadedSessions {
  const { clock, onFailure, keepMs, most } = options;
  const entries = new Map<string, Entry>();
  /** Sessions on their way out, which have to be gone before they load again. */
  const leaving = new Map<string, Promise<void>>();
  const slots = limiter(AT_ONCE);
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
        do {
          entry.again = false;
          await session.run({ untilIdle: true });
        } while (entry.again && !stopped);
      } catch (error) {
        entries.delete(entry.id);
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
    if (entry?.session) entry.session.poke();
    else if (entry || waking) run(entry ?? entryOf(refOf(id)));
  };

  const unload = (entry: Entry, session: Session): void => {
    entries.delete(entry.id);
    const gone = session.unload().catch((error) => onFailure(entry.id, error)).finally(() =>
      leaving.delete(entry.id)
    );
    leaving.set(entry.id, gone);
  };

  /** Gives up what has been idle for long, and what is too many. */
  const sweep = (): void => {
    const now = clock.monotonic();
    const idle = [...entries.values()]
      .filter(({ job, session }) => !job && session && !session.busy)
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
      if (stopped) throw new ReynError("E_STOPPING", "reyn is stopping and loads no session");
      const entry = entryOf(ref);
      entry.idleSince = clock.monotonic();
      const session = await entry.loading;
      sweepLater();
      return session;
    },
    async accept(ref, message) {
      const id = `${ref.agent}/${ref.sid}`;
      const loaded = entries.get(id)?.session;
      if (loaded) return await loaded.accept(message);
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

function refOf(id: string): SessionRef {
  const slash = id.indexOf("/");
  return { agent: id.slice(0, slash), sid: id.slice(slash + 1) };
}

/** Lets at most `most` run at the same time, the others in the order in which they came. */
function limiter(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => queue.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
