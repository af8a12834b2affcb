import { publicEvent } from "./public_event.ts";
import type { RunEvent } from "./run_event.ts";

/** One event of a session, as those outside are told of it. */
export interface SentEvent {
  /** Names its place in the session's stream of this process. */
  id: string;
  type: string;
  /** As JSON, on one line. */
  data: string;
}

export interface Watcher {
  event(event: SentEvent): void;
  /** Events are missing before what comes next. */
  gap(): void;
}

/** Hands what happens in sessions to those who watch them. */
export interface EventHub {
  publish(session: string, event: RunEvent): void;
  /** `after`: the id of the last event seen before. The returned function ends it. */
  watch(session: string, watcher: Watcher, after?: string): () => void;
  /** Hands on what happens as it is, to parts of this process. The returned function ends it. */
  tap(session: string, tell: (event: RunEvent) => void): () => void;
  /** How many watch now. */
  readonly watchers: number;
}

/** Kept of a session that is or was just watched, for those who come back. */
const MOST_EVENTS = 256;
const MOST_CHARS = 1024 * 1024;
/** Sessions whose events are kept after the last watcher has gone; the one left the longest goes first. */
const MOST_LEFT = 64;

interface Stream {
  seq: number;
  kept: SentEvent[];
  chars: number;
  watchers: Set<Watcher>;
}

/** `boot` names this start of the process. Where nobody watches, an event costs one look into a map. */
export function eventHub(boot: string): EventHub {
  const streams = new Map<string, Stream>();
  const taps = new Map<string, Set<(event: RunEvent) => void>>();
  let count = 0;

  const forgetOldest = (): void => {
    let left = [...streams.values()].filter(({ watchers }) => watchers.size === 0).length;
    for (const [session, { watchers }] of streams) {
      if (left <= MOST_LEFT) return;
      if (watchers.size > 0) continue;
      streams.delete(session);
      left -= 1;
    }
  };

  /** What comes after the event of this id; undefined when some of it is gone. */
  const since = (stream: Stream, after: string): readonly SentEvent[] | undefined => {
    const at = stream.kept.findIndex(({ id }) => id === after);
    return at === -1 ? undefined : stream.kept.slice(at + 1);
  };

  return {
    get watchers() {
      return count;
    },
    publish(session, event) {
      for (const tell of taps.get(session) ?? []) tell(event);
      const stream = streams.get(session);
      if (!stream) return;
      const shown = publicEvent(event);
      if (!shown) return;
      stream.seq += 1;
      const sent = { id: `${boot}.${stream.seq}`, type: shown.type, data: JSON.stringify(shown) };
      stream.kept.push(sent);
      stream.chars += sent.data.length;
      while (stream.kept.length > MOST_EVENTS || (stream.chars > MOST_CHARS && stream.kept.length > 1)) {
        stream.chars -= stream.kept.shift()?.data.length ?? 0;
      }
      for (const watcher of stream.watchers) watcher.event(sent);
    },
    tap(session, tell) {
      const own = taps.get(session) ?? new Set();
      taps.set(session, own.add(tell));
      return () => {
        own.delete(tell);
        if (own.size === 0 && taps.get(session) === own) taps.delete(session);
      };
    },
    watch(session, watcher, after) {
      let stream = streams.get(session);
      const missed = after === undefined ? [] : stream && since(stream, after);
      if (!stream) {
        stream = { seq: 0, kept: [], chars: 0, watchers: new Set() };
        streams.set(session, stream);
      }
      if (missed === undefined) watcher.gap();
      else missed.forEach((event) => watcher.event(event));
      stream.watchers.add(watcher);
      count += 1;
      const { watchers } = stream;
      return () => {
        if (!watchers.delete(watcher)) return;
        count -= 1;
        if (watchers.size > 0) return;
        // Moved to the end: the one left the longest stands first.
        const own = streams.get(session);
        if (own) {
          streams.delete(session);
          streams.set(session, own);
        }
        forgetOldest();
      };
    },
  };
}
