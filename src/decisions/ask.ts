import type { Clock } from "../clock/clock.ts";
import { showDuration } from "../config/scalars.ts";
import type { DecisionPoint, Decisions } from "../points/decision_shapes.ts";
import { readAnswer } from "../points/read_fields.ts";
import type { Executor, Question } from "./executor.ts";
import { failureText, HookFailure } from "./failure.ts";

export type Answered<P extends DecisionPoint> =
  | { ok: true; decisions: Partial<Decisions<P>> }
  | { ok: false; error: string };

/** Longest text that a hook may put into a decision, in UTF-16 units. */
const LONGEST_TEXT = 1024 * 1024;

/** Asks one executor and reads its answer. Never throws, and settles within the question's limit unless the executor blocks. */
export async function ask<P extends DecisionPoint>(
  executor: Executor,
  question: Question<P>,
  clock: Clock,
): Promise<Answered<P>> {
  try {
    let answer = executor.ask(question);
    if (isThenable(answer)) answer = (await within(answer, executor, question, clock)).value;
    const read = readAnswer(question.point, answer);
    if (!read.ok) throw new HookFailure("BadAnswer", read.reason);
    for (const [name, value] of Object.entries(read.value)) {
      if (typeof value === "string" && value.length > LONGEST_TEXT) {
        throw new HookFailure("BadAnswer", `the answer's ${name} is longer than ${LONGEST_TEXT} characters`);
      }
    }
    return { ok: true, decisions: read.value };
  } catch (error) {
    return { ok: false, error: failureText(error) };
  }
}

interface Thenable {
  then(onValue: (value: unknown) => void, onError: (error: unknown) => void): unknown;
}

function isThenable(value: unknown): value is Thenable {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/**
 * Waits at most so long. What the promise comes to afterwards, a rejection too, is not looked at. The value comes in a
 * box: an object that has itself as its promised value would be followed for ever.
 */
function within(
  answer: Thenable,
  executor: Executor,
  question: Question,
  clock: Clock,
): Promise<{ value: unknown }> {
  return new Promise((resolve, reject) => {
    const { limitMs } = question;
    const cancel = clock.after(limitMs, () => {
      reject(new HookFailure("TimeoutError", `no answer within ${showDuration(limitMs)}`));
      executor.giveUp?.(question);
    });
    const failed = (error: unknown) => {
      cancel();
      reject(error);
    };
    try {
      answer.then((value) => {
        cancel();
        resolve({ value });
      }, failed);
    } catch (error) {
      failed(error);
    }
  });
}
