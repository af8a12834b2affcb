import type { Clock } from "../clock/clock.ts";
import { type Question, refusalOf } from "./question.ts";
import type { Answer, KeptQuestion, QuestionStore } from "./question_store.ts";

/** Longest that a question keeps what waits for it, in milliseconds. */
export const ANSWER_LIMIT_MS = 5 * 60_000;

/** A surface on which people answer. */
export interface Listener {
  /** For records: `terminal`, `http:<token>`. */
  name: string;
  /** A terminal is asked only where no other surface is attached. */
  rank: "listener" | "terminal";
  /** False where it could not be answered right now. Default: as long as it is attached. */
  live?(): boolean;
  /** Shows a question; `gone` is aborted once it needs no answer any more. Answers come back through `answer`. */
  show(question: Question, gone: AbortSignal): void;
}

export type Reply =
  | { status: "answered"; answer: string; by: string }
  /** No surface is attached, or the last one left. */
  | { status: "nobody" }
  | { status: "expired" }
  /** Whoever asked does not wait any more. */
  | { status: "withdrawn" };

export interface AskOptions {
  /** Aborted when whoever asks does not wait any more. */
  signal?: AbortSignal;
  /** Default ANSWER_LIMIT_MS; null: as long as it takes. */
  limitMs?: number | null;
  /** The question stays open when it is withdrawn or nobody is left, to be put again later. Default false. */
  keep?: boolean;
  /** Waits also while nobody is there: whoever attaches is shown it. Default false. */
  patient?: boolean;
}

/** What records are made of. Never the text of a question. */
export type InterventionRecord =
  | { type: "asked"; question: Question; surfaces: readonly string[] }
  /** `late`: nobody waits for it in this process. */
  | { type: "answered"; question: Question; answer: string; by: string; late: boolean }
  | { type: "closed"; question: Question; reason: "expired" | "withdrawn" | "nobody" };

/** The one queue of questions to people. */
export interface Interventions {
  /** Attaches a surface, which is shown what is open; the function detaches it. */
  attach(listener: Listener): () => void;
  /** Whether anybody could be asked at this very moment. */
  listening(): boolean;
  /**
   * Puts a question and waits. One that was answered before a crash is answered from the store. Whoever asks settles it when
   * its answer has taken effect. Throws what the store throws.
   */
  ask(question: Question, options?: AskOptions): Promise<Reply>;
  /** Answers from a surface: `answered` when someone else was first. */
  answer(id: string, answer: string, by: string): Promise<"taken" | "answered" | "unknown" | "not_a_choice">;
  /** Forgets a question whose answer has taken effect. */
  settle(id: string): Promise<void>;
  /** What is open or not yet settled, over restarts. */
  list(): Promise<KeptQuestion[]>;
}

interface Waiting {
  question: Question;
  shown: Map<Listener, AbortController>;
  patient: boolean;
  end(reply: Reply): void;
}

export interface InterventionsOptions {
  store: QuestionStore;
  clock: Clock;
  record: (record: InterventionRecord) => void;
}

export function createInterventions({ store, clock, record }: InterventionsOptions): Interventions {
  const listeners = new Set<Listener>();
  const waiting = new Map<string, Waiting>();

  /** Those who are asked now: a terminal only where nobody else is. */
  const audience = (): Listener[] => {
    const attached = [...listeners].filter((listener) => listener.live?.() ?? true);
    const others = attached.filter(({ rank }) => rank === "listener");
    return others.length > 0 ? others : attached;
  };

  const offer = (one: Waiting): void => {
    for (const listener of audience()) {
      if (one.shown.has(listener)) continue;
      const gone = new AbortController();
      one.shown.set(listener, gone);
      listener.show(one.question, gone.signal);
    }
  };

  /** Takes the place of an answer, so that none can come after; answers what was there first, if anything was. */
  const close = async (question: Question, reason: "expired" | "withdrawn" | "nobody"): Promise<Reply> => {
    const taken = await store.answer(question.id, { answer: refusalOf(question), by: reason });
    const first = taken === "answered" ? await answerOf(question.id) : null;
    if (first) return { status: "answered", ...first };
    record({ type: "closed", question, reason });
    return { status: reason };
  };

  const answerOf = async (id: string): Promise<Answer | null> =>
    (await store.list()).find(({ question }) => question.id === id)?.answer ?? null;

  /** Registered before the store is looked at again, so that no answer falls in between. */
  const wait = async (question: Question, options: AskOptions): Promise<Reply> => {
    const { signal, limitMs = ANSWER_LIMIT_MS, patient = false } = options;
    let end: (reply: Reply) => void = () => {};
    const replied = new Promise<Reply>((resolve) => {
      end = resolve;
    });
    const one: Waiting = { question, shown: new Map(), patient, end };
    waiting.set(question.id, one);
    const onAbort = () => end({ status: "withdrawn" });
    signal?.addEventListener("abort", onAbort, { once: true });
    const cancel = limitMs === null ? () => {} : clock.after(limitMs, () => end({ status: "expired" }));
    try {
      const before = await answerOf(question.id);
      if (before) return { status: "answered", ...before };
      if (signal?.aborted) return { status: "withdrawn" };
      offer(one);
      if (one.shown.size === 0 && !patient) return { status: "nobody" };
      record({ type: "asked", question, surfaces: [...one.shown.keys()].map(({ name }) => name) });
      return await replied;
    } finally {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      waiting.delete(question.id);
      for (const gone of one.shown.values()) gone.abort();
    }
  };

  return {
    attach(listener) {
      listeners.add(listener);
      for (const one of waiting.values()) offer(one);
      return () => {
        listeners.delete(listener);
        for (const one of [...waiting.values()]) {
          one.shown.get(listener)?.abort();
          one.shown.delete(listener);
          if (one.shown.size === 0) offer(one);
          if (one.shown.size === 0 && !one.patient) one.end({ status: "nobody" });
        }
      };
    },
    listening: () => audience().length > 0,
    async ask(question, options = {}) {
      const { keep = false } = options;
      if (waiting.has(question.id)) throw new Error(`question ${question.id} is open already`);
      if (await store.ask(question) === "full") return { status: "nobody" };
      const reply = await wait(question, options);
      if (reply.status === "answered") return reply;
      if (keep && reply.status !== "expired") return reply;
      return await close(question, reply.status);
    },
    async answer(id, answer, by) {
      const kept = (await store.list()).find(({ question }) => question.id === id);
      if (!kept) return "unknown";
      if (!kept.question.choices.some((choice) => choice.answer === answer)) return "not_a_choice";
      const stored = await store.answer(id, { answer, by });
      if (stored !== "stored") return stored;
      record({ type: "answered", question: kept.question, answer, by, late: !waiting.has(id) });
      waiting.get(id)?.end({ status: "answered", answer, by });
      return "taken";
    },
    settle: (id) => store.settle(id),
    list: () => store.list(),
  };
}
