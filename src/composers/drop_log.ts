import type { Timer, TimerQueue } from "../clock/timer_queue.ts";
import type { DropReason } from "./composer.ts";

/**
 * Turns drops into records: one each, until many come within a second; then one record says how many more there were.
 */
export interface DropLog {
  add(key: string, reason: DropReason): void;
  /** Records what has only been counted so far. */
  flush(): void;
}

interface Episode {
  since: number;
  recorded: number;
  /** Counted, not yet recorded. */
  more: number;
  lastKey: string;
  timer: Timer | null;
}

const EPISODE_MS = 1000;
const MOST_RECORDED = 100;

export function createDropLog(
  timers: TimerQueue,
  record: (key: string, reason: DropReason, count: number) => void,
): DropLog {
  const episodes = new Map<DropReason, Episode>();

  const close = (reason: DropReason, episode: Episode): void => {
    episode.timer?.cancel();
    episodes.delete(reason);
    if (episode.more > 0) record(episode.lastKey, reason, episode.more);
  };

  return {
    add(key, reason) {
      let episode = episodes.get(reason);
      if (episode && timers.now() - episode.since >= EPISODE_MS) {
        close(reason, episode);
        episode = undefined;
      }
      if (!episode) {
        episode = { since: timers.now(), recorded: 0, more: 0, lastKey: key, timer: null };
        episodes.set(reason, episode);
      }
      if (episode.recorded < (reason === "rate_limited" ? 1 : MOST_RECORDED)) {
        episode.recorded += 1;
        return record(key, reason, 1);
      }
      episode.more += 1;
      episode.lastKey = key;
      const current = episode;
      episode.timer ??= timers.at(episode.since + EPISODE_MS, () => close(reason, current));
    },
    flush() {
      for (const [reason, episode] of [...episodes]) close(reason, episode);
    },
  };
}
