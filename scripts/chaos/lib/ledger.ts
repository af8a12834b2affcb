import type { Ended } from "./process.ts";

/** What one message that was sent came to, as far as anyone outside can know. */
export type Fate = "acknowledged" | "unknown" | "refused";

export interface Sent {
  session: string;
  text: string;
  fate: Fate;
}

/** What the outside knows: everything that a run said was done, and every message that was sent. */
export interface Ledger {
  readonly sent: Sent[];
  /** Messages of the conversation that were shown: id to text, by session. */
  readonly shown: Map<string, Map<string, string>>;
  /** Turns whose end was shown: turn to status. */
  readonly ended: Map<string, Map<number, string>>;
  /** Pushes shown before the end of a turn, or of a session, that was shown too. */
  readonly pushed: Map<string, Set<string>>;
  /** Takes in the output of a run; `sent` is the text that it was given. */
  record(session: string, run: Ended, sent?: string): void;
  readonly sessions: ReadonlySet<string>;
}

interface Line {
  type?: unknown;
  [key: string]: unknown;
}

interface Message {
  id: string;
  text: string;
}

export function createLedger(): Ledger {
  const sent: Sent[] = [];
  const shown = new Map<string, Map<string, string>>();
  const ended = new Map<string, Map<number, string>>();
  const pushed = new Map<string, Set<string>>();
  const sessions = new Set<string>();

  return {
    sent,
    shown,
    ended,
    pushed,
    sessions,
    record(session, run, text) {
      sessions.add(session);
      const entry: Sent | undefined = text === undefined ? undefined : { session, text, fate: "unknown" };
      if (entry) sent.push(entry);
      const messages = at(shown, session, () => new Map<string, string>());
      let waiting: string[] = [];
      const settlePushes = () => {
        for (const id of waiting) at(pushed, session, () => new Set<string>()).add(id);
        waiting = [];
      };
      for (const line of linesOf(run.stdout)) {
        switch (line.type) {
          case "turn_started":
          case "context_added":
            for (const message of messagesIn(line["messages"])) {
              messages.set(message.id, message.text);
              if (entry && message.text === entry.text) entry.fate = "acknowledged";
            }
            break;
          case "reply":
          case "tool_result":
            for (const message of messagesIn([line["message"]])) messages.set(message.id, message.text);
            break;
          case "push":
            waiting.push(String(line["id"]));
            break;
          case "turn_ended":
            at(ended, session, () => new Map<number, string>()).set(
              Number(line["turn"]),
              String(line["status"]),
            );
            settlePushes();
            break;
          case "session_ended":
            settlePushes();
            break;
        }
      }
      if (!entry) return;
      if (run.code === 0) entry.fate = "acknowledged";
      if (run.code === 6) entry.fate = "refused";
    },
  };
}

/** Whole lines only: what a kill cut off was not said. */
function linesOf(stdout: string): Line[] {
  return stdout.split("\n").slice(0, -1).flatMap((text) => {
    try {
      const line: unknown = JSON.parse(text);
      return typeof line === "object" && line !== null ? [line as Line] : [];
    } catch {
      return [{ type: "unreadable" }];
    }
  });
}

function messagesIn(value: unknown): Message[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    if (typeof one !== "object" || one === null) return [];
    const { id, text } = one as Record<string, unknown>;
    return typeof id === "string" && typeof text === "string" ? [{ id, text }] : [];
  });
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
