import type { Audit } from "../audit/audit.ts";
import type { BusEvent } from "../bus/event.ts";
import type { TimerQueue } from "../clock/timer_queue.ts";
import { rateLimiter } from "../hooks/rate_limiter.ts";
import type { Composer, ComposerStatus, DropReason } from "./composer.ts";
import { createDropLog } from "./drop_log.ts";
import type { Durable } from "./durable.ts";
import { exactInstant } from "./stored.ts";
import { createMachine, type Effects, type Fire, type Machine } from "./machine.ts";

/** A composer at work in a session: its machine, its counts and its records. */
export interface Runner {
  readonly machine: Machine;
  status(): ComposerStatus;
  drop(key: string, reason: DropReason): void;
  /** Records drops that have only been counted so far. */
  flush(): void;
}

export interface RunnerPorts {
  session: string;
  timers: TimerQueue;
  audit: Audit;
  /** Null: nothing of this composer outlives the process. */
  durable: Durable | null;
  publish(composer: Composer, fire: Fire): void;
  observe: ((event: ComposerEvent) => void) | undefined;
}

/** What a composer does, as it does it. */
export type ComposerEvent =
  | { type: "fired"; composer: string; key: string; event: BusEvent }
  | { type: "dropped"; composer: string; key: string; reason: DropReason };

export function createRunner(composer: Composer, ports: RunnerPorts): Runner {
  const { session, timers, audit, durable } = ports;
  const { name, op } = composer;
  const limiter = composer.rateLimit ? rateLimiter(composer.rateLimit) : null;
  const counts: Partial<Record<DropReason, number>> = {};
  let fires = 0;
  let lastFire: number | null = null;

  const drops = createDropLog(timers, (key, reason, count) => {
    const more = count > 1 ? { count } : {};
    audit.emit("composer_dropped", session, { composer: name, correlation_key: key, reason, ...more });
  });

  const drop = (key: string, reason: DropReason): void => {
    counts[reason] = (counts[reason] ?? 0) + 1;
    drops.add(key, reason);
    ports.observe?.({ type: "dropped", composer: name, key, reason });
  };

  const effects: Effects = {
    fire(fire) {
      const now = timers.now();
      if (limiter && !limiter.admit(now).admitted) return drop(fire.key, "rate_limited");
      fires += 1;
      lastFire = now;
      ports.publish(composer, fire);
    },
    drop(key, reason, lost) {
      drop(key, reason);
      if (lost === null) return;
      audit.emit("composer_deadline_lost", session, {
        composer: name,
        correlation_key: key,
        armed_at: exactInstant(timers.toWall(lost)) / 1000,
        reason,
      });
    },
    changed: durable ? (key, pending) => durable.changed(composer, key, pending) : () => {},
    heldBack(key, waitedMs) {
      audit.emit("composer_held_back", session, {
        composer: name,
        correlation_key: key,
        waited_ms: Math.round(waitedMs),
      });
    },
  };
  const machine = createMachine(composer, effects);

  return {
    machine,
    status() {
      const due = machine.nextDue();
      return {
        name,
        op,
        pending: machine.size,
        next_due: due === Infinity ? null : timers.toWall(due),
        fires,
        last_fire: lastFire === null ? null : timers.toWall(lastFire),
        drops: { ...counts },
      };
    },
    drop,
    flush: () => drops.flush(),
  };
}
