import type { Clock } from "../../clock/clock.ts";
import type { LocalTarget } from "../declaration.ts";
import type { Executor, Question } from "../executor.ts";
import { HookFailure } from "../failure.ts";
import type { Loaded } from "../load_local.ts";
import { type HookProcess, type RunningCall, startHookProcess } from "./hook_process.ts";

/** A question that waits for its answer. */
interface Asked {
  running: RunningCall | undefined;
  givenUp: boolean;
}

/**
 * Runs a hook in a child process of this program, which is ended with all that it started when the hook takes too long.
 * The child lives on between calls; after its end the next call starts another. Of the other calls that it had when it
 * ended, those that it had not begun are put to the next one, once; the rest fail.
 */
export async function loadIsolated(
  target: Omit<LocalTarget, "isolate">,
  folder: string,
  clock: Clock,
): Promise<Loaded> {
  let starting: Promise<HookProcess> | undefined;
  let current: HookProcess | undefined;
  let closed = false;
  const asked = new Map<Question, Asked>();

  function start(): Promise<HookProcess> {
    return starting ??= startHookProcess(target, folder, clock).then((ready) => current = ready)
      .finally(() => starting = undefined);
  }

  async function put(question: Question, own: Asked): Promise<object> {
    for (let attempt = 1;; attempt++) {
      if (closed) throw new HookFailure("ExecutorEnded", "the hook was closed");
      const host = current && !current.gone() ? current : await start();
      if (own.givenUp) throw new HookFailure("TimeoutError", "no answer in time");
      const { point, context, id } = question;
      own.running = host.call({ point, context, id });
      const called = await own.running.done;
      switch (called.state) {
        case "answered":
          return called.decisions;
        case "failed":
          throw passedOn(called.error);
        case "ended":
          if (called.begun || own.givenUp || attempt > 1) {
            throw new HookFailure("ExecutorEnded", called.reason);
          }
      }
    }
  }

  const executor: Executor = {
    async ask(question) {
      const own: Asked = { running: undefined, givenUp: false };
      asked.set(question, own);
      try {
        return await put(question, own);
      } finally {
        asked.delete(question);
      }
    },
    giveUp(question) {
      const own = asked.get(question);
      if (!own) return;
      own.givenUp = true;
      own.running?.giveUp();
    },
    async close() {
      closed = true;
      await starting?.catch(() => {});
      await current?.end("the hook was closed");
    },
  };
  try {
    const { points } = await start();
    return { ok: true, points, executor };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The failure as the child words it: `Class: message`. */
function passedOn(text: string): Error {
  const [, name = "Error", message = text] = /^([\w$]+): (.*)$/s.exec(text) ?? [];
  return Object.assign(new Error(message), { name });
}
