import type { Clock } from "../../clock/clock.ts";
import type { PluginChild } from "./plugin_child.ts";

/** What a process is confined to; it serves only calls that are to be confined alike. */
export interface Confinement {
  /** Equal for equal confinements, and only for them. */
  key: string;
  writePaths: readonly string[];
  readOnly: readonly string[];
  /** Whether its plugins reach files. */
  files: boolean;
  /** Guest memory that it is made for. */
  memoryBytes: number;
}

export interface Wanted {
  confinement: Confinement;
  owner: string;
  hash: string;
}

export type Lease =
  | { ok: true; child: PluginChild; release(): void }
  /** No process can be had. */
  | { ok: false; reason: string };

/** The processes that plugins run in. */
export interface Pool {
  /** Waits its turn. `given.up` tells that nobody waits any more. */
  take(wanted: Wanted, given: { up: boolean }): Promise<Lease>;
  /** Has one idle process at hand, where there is room for it. */
  spare(confinement: Confinement): void;
  size(): number;
  close(): Promise<void>;
}

export interface PoolOptions {
  start(confinement: Confinement): Promise<{ ok: true; child: PluginChild } | { ok: false; reason: string }>;
  clock: Clock;
  /** Default 4. */
  most?: number;
}

const MOST_CHILDREN = 4;
/** Processes that calls of one hook may hold at a time, so that one which hangs leaves room for others. */
const MOST_PER_OWNER = 2;
/** An idle process that is not the only one goes after so long. */
const IDLE_MS = 60_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;

interface Member {
  confinement: Confinement;
  child: PluginChild | undefined;
  /** Who it works for; undefined when idle, null while it starts as a spare. */
  owner: string | null | undefined;
  stopIdle(): void;
}

const GIVEN_UP: Lease = { ok: false, reason: "nobody waits for it any more" };

interface Waiter {
  wanted: Wanted;
  given: { up: boolean };
  settle(lease: Lease): void;
}

export function openPool({ start, clock, most = MOST_CHILDREN }: PoolOptions): Pool {
  const members = new Set<Member>();
  const ending = new Set<Promise<unknown>>();
  let waiting: Waiter[] = [];
  let closed = false;
  let failures = 0;
  let retryAt = 0;
  let lastReason = "";

  const remove = (member: Member) => {
    if (!members.delete(member)) return;
    member.stopIdle();
    if (!member.child) return;
    member.child.kill();
    const gone = member.child.ended.finally(() => ending.delete(gone));
    ending.add(gone);
  };

  const idle = (member: Member) => {
    member.owner = undefined;
    // The only one stays however long it is idle, so that it needs no timer.
    if (members.size > 1) {
      member.stopIdle = clock.after(IDLE_MS, () => {
        if (member.owner === undefined && members.size > 1) remove(member);
      });
    }
    pump();
  };

  /** Makes a member and tells its owner; undefined when it could not be started. */
  const launch = async (confinement: Confinement, owner: string | null): Promise<Member | string> => {
    const member: Member = { confinement, child: undefined, owner, stopIdle: () => {} };
    members.add(member);
    const started = await start(confinement);
    if (started.ok) member.child = started.child;
    const problem = started.ok ? await started.child.ready : started.reason;
    if (problem === undefined && !closed && member.child) {
      failures = 0;
      void member.child.ended.then(() => remove(member));
      return member;
    }
    remove(member);
    if (problem !== undefined) {
      retryAt = clock.monotonic() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
      failures += 1;
      lastReason = problem;
    }
    return problem ?? "reyn is stopping";
  };

  const lease = (member: Member, child: PluginChild): Lease => {
    let released = false;
    return {
      ok: true,
      child,
      release() {
        if (released) return;
        released = true;
        if (!child.usable()) remove(member);
        if (members.has(member)) idle(member);
        else pump();
      },
    };
  };

  const assign = async (waiter: Waiter) => {
    const made = await launch(waiter.wanted.confinement, waiter.wanted.owner);
    if (typeof made === "string") {
      waiter.settle({ ok: false, reason: made });
      return pump();
    }
    if (made.child) hand(waiter, made, made.child);
  };

  const hand = (waiter: Waiter, member: Member, child: PluginChild) => {
    if (waiter.given.up) {
      waiter.settle(GIVEN_UP);
      return idle(member);
    }
    member.stopIdle();
    member.owner = waiter.wanted.owner;
    waiter.settle(lease(member, child));
  };

  /** What can be done for a waiter right now; false: it has to wait. */
  const serve = (waiter: Waiter): boolean => {
    const { confinement, owner, hash } = waiter.wanted;
    const held = [...members].filter((member) => member.owner === owner).length;
    if (held >= MOST_PER_OWNER) return false;
    const free = [...members].filter((member) => member.owner === undefined && member.child?.usable());
    const fitting = free.filter((member) => member.confinement.key === confinement.key);
    const best = fitting.find((member) => member.child?.has(hash)) ?? fitting[0];
    if (best?.child) {
      hand(waiter, best, best.child);
      return true;
    }
    const [other] = free;
    if (members.size >= most && !other) return false;
    if (failures > 0 && clock.monotonic() < retryAt) {
      waiter.settle({ ok: false, reason: lastReason });
      return true;
    }
    if (members.size >= most && other) remove(other);
    void assign(waiter);
    return true;
  };

  const pump = () => {
    if (closed || waiting.length === 0) return;
    const before = waiting;
    waiting = [];
    const left = before.filter((waiter) => {
      if (!waiter.given.up) return !serve(waiter);
      waiter.settle(GIVEN_UP);
      return false;
    });
    waiting = [...left, ...waiting];
  };

  return {
    take(wanted, given) {
      if (closed) return Promise.resolve({ ok: false, reason: "reyn is stopping" });
      return new Promise((settle) => {
        const waiter = { wanted, given, settle };
        if (!serve(waiter)) waiting.push(waiter);
      });
    },
    spare(confinement) {
      const isThere = [...members].some((member) => member.owner === undefined || member.owner === null);
      if (closed || isThere || members.size >= most || clock.monotonic() < retryAt) return;
      void launch(confinement, null).then((member) => {
        if (typeof member !== "string") idle(member);
        pump();
      });
    },
    size: () => members.size,
    async close() {
      closed = true;
      for (const member of [...members]) remove(member);
      for (const waiter of waiting) waiter.settle({ ok: false, reason: "reyn is stopping" });
      waiting = [];
      await Promise.all(ending);
    },
  };
}
