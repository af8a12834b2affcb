import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import { isReynError } from "../errors/reyn_error.ts";
import type { SessionRow } from "../store/store.ts";
import type { RunEvent } from "./run_event.ts";

/** One reason why a server is not ready. Never text of messages. */
export interface NotReady {
  code: "stopping" | "state_unwritable" | "valve_closed" | "session_suspended" | "session_failed";
  /** What it is about, for a person: how many sessions, and the first of them. */
  detail: string;
}

/** What keeps a server from being ready, kept as it happens. */
export interface Health {
  /** What stands in the store at the start. */
  seed(row: SessionRow): void;
  observe(session: string, event: RunEvent): void;
  failed(session: string, error: unknown): void;
  recovered(session: string): void;
  /** The session's suspension is over. */
  resumed(session: string): void;
  reasons(): NotReady[];
  counts(): { valve_closed: number; suspended: number; failed: number };
}

const SHOWN = 3;
/** The disk is tried at most this often. */
const PROBE_MS = 1000;

export function createHealth(options: { stateDir: string; clock: Clock; stopping(): boolean }): Health {
  const valves = new Set<string>();
  const suspended = new Set<string>();
  const failures = new Map<string, string>();
  const disk = diskProbe(options.stateDir, options.clock);

  return {
    seed({ id, status }) {
      if (status["closed"] === true) valves.add(id);
      if (typeof status["suspended"] === "string") suspended.add(id);
    },
    observe(session, event) {
      switch (event.type) {
        case "valve_closed":
          valves.add(session);
          return;
        case "valve_answered":
          if (event.extended) valves.delete(session);
          return;
        case "turn_started":
          if (event.hookDrivenTurns === 0) valves.delete(session);
          suspended.delete(session);
          return;
        case "suspended":
          suspended.add(session);
          return;
        default:
          return;
      }
    },
    failed: (session, error) => void failures.set(session, isReynError(error) ? error.code : "E_INTERNAL"),
    recovered: (session) => void failures.delete(session),
    resumed: (session) => void suspended.delete(session),
    reasons() {
      const reasons: NotReady[] = [];
      if (options.stopping()) reasons.push({ code: "stopping", detail: "the server is stopping" });
      const broken = disk();
      if (broken !== undefined) reasons.push({ code: "state_unwritable", detail: broken });
      if (valves.size > 0) reasons.push({ code: "valve_closed", detail: shown([...valves]) });
      if (suspended.size > 0) reasons.push({ code: "session_suspended", detail: shown([...suspended]) });
      if (failures.size > 0) {
        const ids = [...failures].map(([id, code]) => `${id} (${code})`);
        reasons.push({ code: "session_failed", detail: shown(ids) });
      }
      return reasons;
    },
    counts: () => ({ valve_closed: valves.size, suspended: suspended.size, failed: failures.size }),
  };
}

function shown(ids: readonly string[]): string {
  const first = ids.slice(0, SHOWN).join(", ");
  return ids.length > SHOWN ? `${first} and ${ids.length - SHOWN} more` : first;
}

/** Writes a small file through to the disk where the store lies: says why that fails. */
function diskProbe(dir: string, clock: Clock): () => string | undefined {
  const path = join(dir, "probe");
  const bytes = new Uint8Array(4096);
  let triedAt = -Infinity;
  let said: string | undefined;
  return () => {
    if (clock.monotonic() - triedAt < PROBE_MS) return said;
    triedAt = clock.monotonic();
    try {
      rmSync(path, { force: true });
      const file = openSync(path, "wx", 0o600);
      try {
        writeSync(file, bytes);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      rmSync(path, { force: true });
      said = undefined;
    } catch (error) {
      const code = error instanceof Error ? Reflect.get(error, "code") : undefined;
      said = typeof code === "string"
        ? `the state folder cannot be written: ${code}`
        : "it cannot be written";
    }
    return said;
  };
}
