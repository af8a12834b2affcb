import type { Clock } from "../clock/clock.ts";
import { audienceOf, type Listener, type Over, type Reply } from "./listener.ts";
import { publicId, type Question, refusalOf } from "./question.ts";
import { isOpen, type ListedQuestion, type QuestionStore } from "./question_store.ts";
import { recentIds } from "./recent_ids.ts";

/** Longest that a question keeps what waits for it, in milliseconds. */
export const ANSWER_LIMIT_MS = 5 * 60_000;

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
  /**
   * Attaches a surface, which is shown what is open; one that is no terminal also what was left open and nothing waits for in
   * this process. The function detaches it.
   */
  attach(listener: Listener): () => void;
  /** Whether anybody could be asked about this session at this very moment. */
  listening(session: string): boolean;
  /**
   * Puts a question and waits. One that was answered before a crash is answered from the store. Whoever asks settles it when
   * its answer has taken effect. Throws what the store throws.
   */
  ask(question: Question, options?: AskOptions): Promise<Reply>;
  /** Answers from a surface, by the question's id or its public one: `answered` when it needs no answer any more. */
  answer(id: string, answer: string, by: string): Promise<"taken" | "answered" | "unknown" | "not_a_choice">;
  /** Forgets a question whose answer has taken effect. */
  settle(id: string): Promise<void>;
  /** Says that the question was settled in the store, with something else. */
  settled(id: string): void;
  /** What is open or not yet settled, over restarts. */
  list(): Promise<ListedQuestion[]>;
}

interface Open {
  question: Question;
  askedAt: number;
  expiresAt: number | null;
  shown: Map<Listener, (over: Over) => void>;
  /** Null where nothing waits for it in this process. */
  wait: Wait | null;
}

interface Wait {
  patient: boolean;
  /** It is shown to whoever is there. */
  put: boolean;
  end(reply: Reply): void;
}

export interface InterventionsOptions {
  store: QuestionStore;
  clock: Clock;
  record: (record: InterventionRecord) => void;
  /** How long surfaces that a crash has cut off may take to come back to what they had been asked. Default 0. */
  returnMs?: number;
}

/** Settled questions whose late answers are told from answers to nothing. */
const MOST_SETTLED = 1000;

export function createInterventions(options: InterventionsOptions): Interventions {
  const { store, clock, record, returnMs = 0 } = options;
  const listeners = new Set<Listener>();
  const open = new Map<string, Open>();
  /** Public ones. */
  const settledIds = recentIds(MOST_SETTLED);
  let leftRead = false;

  const rowOf = async (id: string) => (await store.list()).find(({ question }) => question.id === id);

  const offer = (one: Open, to = audienceOf(listeners, one.question.session)): void => {
    const { question, askedAt, expiresAt, shown } = one;
    for (const listener of to) {
      if (!shown.has(listener)) shown.set(listener, listener.show({ question, askedAt, expiresAt }));
    }
  };

  const dismiss = ({ shown }: Open, over: Over, from: (listener: Listener) => boolean = () => true): void => {
    for (const [listener, tell] of [...shown]) {
      if (!from(listener)) continue;
      shown.delete(listener);
      tell(over);
    }
  };

  const drop = (one: Open, over: Over): void => {
    if (open.get(one.question.id) === one) open.delete(one.question.id);
    dismiss(one, over);
  };

  /** To those who attached for more than what is asked meanwhile. */
  const offerLeft = (one: Open): void => {
    const to = [...listeners].filter(({ rank }) => rank === "listener");
    offer(one, audienceOf(to, one.question.session));
  };

  /** What an earlier process left, or a session that is not loaded. */
  const readLeft = async (): Promise<void> => {
    leftRead = true;
    for (const { question, askedAt, answer } of await store.list()) {
      if (!isOpen({ question, answer, waits: false }) || open.has(question.id)) continue;
      const one = { question, askedAt, expiresAt: null, shown: new Map(), wait: null };
      open.set(question.id, one);
      offerLeft(one);
    }
  };

  /** Takes the place of an answer, so that none can come after; answers what was there first, if anything was. */
  const close = async (question: Question, reason: "expired" | "withdrawn" | "nobody"): Promise<Reply> => {
    const taken = await store.answer(question.id, { answer: refusalOf(question), by: reason });
    const first = taken === "answered" ? (await rowOf(question.id))?.answer : null;
    if (first) return { status: "answered", ...first };
    record({ type: "closed", question, reason });
    return { status: reason };
  };

  /** Registered before the store is looked at again, so that no answer falls in between. */
  const wait = async (one: Open, options: AskOptions & { returnMs: number }): Promise<Reply> => {
    const { question } = one;
    const { signal, limitMs = ANSWER_LIMIT_MS, patient = false } = options;
    let end: (reply: Reply) => void = () => {};
    const replied = new Promise<Reply>((resolve) => {
      end = resolve;
    });
    const waiting: Wait = { patient: patient || options.returnMs > 0, put: false, end };
    one.wait = waiting;
    const onAbort = () => end({ status: "withdrawn" });
    signal?.addEventListener("abort", onAbort, { once: true });
    const cancels = limitMs === null ? [] : [clock.after(limitMs, () => end({ status: "expired" }))];
    try {
      const row = await rowOf(question.id);
      if (row?.answer) return { status: "answered", ...row.answer };
      if (signal?.aborted) return { status: "withdrawn" };
      one.askedAt = row?.askedAt ?? clock.now();
      one.expiresAt = limitMs === null ? null : clock.now() + limitMs;
      waiting.put = true;
      offer(one);
      if (one.shown.size === 0 && !waiting.patient) return { status: "nobody" };
      record({ type: "asked", question, surfaces: [...one.shown.keys()].map(({ name }) => name) });
      if (!patient && waiting.patient) {
        cancels.push(clock.after(options.returnMs, () => {
          waiting.patient = false;
          if (one.shown.size === 0) end({ status: "nobody" });
        }));
      }
      return await replied;
    } finally {
      for (const cancel of cancels) cancel();
      signal?.removeEventListener("abort", onAbort);
      one.wait = null;
      one.expiresAt = null;
    }
  };

  const entryOf = (question: Question): Open => {
    const one: Open = open.get(question.id) ??
      { question, askedAt: clock.now(), expiresAt: null, shown: new Map(), wait: null };
    one.question = question;
    open.set(question.id, one);
    return one;
  };

  const settled = (id: string): void => {
    const one = open.get(id);
    if (one) drop(one, { status: "withdrawn" });
    settledIds.add(publicId(id));
  };

  return {
    attach(listener) {
      listeners.add(listener);
      for (const one of open.values()) {
        if (one.wait === null) offerLeft(one);
        else if (one.wait.put) offer(one);
      }
      // A store that fails now may be well when the next one comes.
      if (!leftRead && listener.rank === "listener") void readLeft().catch(() => leftRead = false);
      return () => {
        listeners.delete(listener);
        for (const one of [...open.values()]) {
          const tell = one.shown.get(listener);
          one.shown.delete(listener);
          tell?.({ status: "detached" });
          const { wait: waiting } = one;
          if (!waiting?.put || one.shown.size > 0) continue;
          offer(one);
          if (one.shown.size === 0 && !waiting.patient) waiting.end({ status: "nobody" });
        }
      };
    },
    listening: (session) => audienceOf(listeners, session).length > 0,
    async ask(question, options = {}) {
      const { keep = false } = options;
      if (open.get(question.id)?.wait) throw new Error(`question ${question.id} is open already`);
      const stored = await store.ask(question);
      if (stored === "full") return { status: "nobody" };
      const one = entryOf(question);
      let reply: Reply = { status: "withdrawn" };
      try {
        reply = await wait(one, { ...options, returnMs: stored === "known" && !keep ? returnMs : 0 });
        const stays = keep && reply.status !== "answered" && reply.status !== "expired";
        // It can still be answered, and is shown on where people look at more than one run.
        if (stays) dismiss(one, reply, ({ rank }) => rank === "terminal");
        else if (reply.status !== "answered") reply = await close(question, reply.status);
        if (!stays) drop(one, reply);
        return reply;
      } catch (error) {
        drop(one, { status: "withdrawn" });
        throw error;
      }
    },
    async answer(id, answer, by) {
      const kept = (await store.list()).find(({ question: one }) => one.id === id || publicId(one.id) === id);
      if (!kept) return settledIds.has(id) || settledIds.has(publicId(id)) ? "answered" : "unknown";
      const { question } = kept;
      if (!question.choices.some((choice) => choice.answer === answer)) return "not_a_choice";
      const stored = await store.answer(question.id, { answer, by });
      if (stored !== "stored") return stored;
      const one = open.get(question.id);
      const reply: Reply = { status: "answered", answer, by };
      record({ type: "answered", question, answer, by, late: !one?.wait });
      if (one?.wait) one.wait.end(reply);
      else if (one) drop(one, reply);
      return "taken";
    },
    async settle(id) {
      await store.settle(id);
      settled(id);
    },
    settled,
    list: async () =>
      (await store.list()).map((kept) => ({
        ...kept,
        waits: (open.get(kept.question.id)?.wait ?? null) !== null,
        expiresAt: open.get(kept.question.id)?.expiresAt ?? null,
      })),
  };
}
