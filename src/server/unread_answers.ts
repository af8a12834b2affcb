import type { ServerResponse } from "node:http";

/** Answers that are written and on their way. */
export interface UnreadAnswers {
  /** Looks after an answer until it has gone out. */
  watch(response: ServerResponse): void;
  stop(): void;
}

interface Standing {
  /** What had not gone out when it was last looked. */
  left: number;
  /** For how many looks that has not changed. */
  looks: number;
}

/**
 * Closes connections whose client takes nothing of a whole answer for `ms`, looking every `lookMs`: else they would hold it,
 * and their place, for ever. Deno tells that something was taken only when all of it was. An answer that is still being written,
 * a stream, has a bound of its own.
 */
export function unreadAnswers({ ms, lookMs }: { ms: number; lookMs: number }): UnreadAnswers {
  const watched = new Map<ServerResponse, Standing>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const look = () => {
    for (const [response, standing] of watched) {
      const left = response.writableEnded ? response.writableLength : 0;
      standing.looks = left > 0 && left === standing.left ? standing.looks + 1 : 0;
      standing.left = left;
      if (standing.looks * lookMs >= ms) response.destroy();
    }
    if (watched.size === 0) stop();
  };
  return {
    watch(response) {
      watched.set(response, { left: 0, looks: 0 });
      const gone = () => void watched.delete(response);
      response.once("finish", gone).once("close", gone);
      if (timer !== undefined) return;
      timer = setInterval(look, lookMs);
      timer.unref?.();
    },
    stop,
  };
}
