import type { Interventions } from "../interventions/interventions.ts";
import type { Reply } from "../interventions/listener.ts";
import type { InboxRow, JsonObject, Op } from "../store/store.ts";
import type { SessionContext } from "./context.ts";
import { closingQuestion } from "./limit_question.ts";
import type { SessionRecord } from "./state.ts";

/** How matters stand over the cap: `open` waits for an answer that nobody is there to give. */
export type LimitStanding = "held" | "extended" | "asking" | "open";

export interface Limit {
  /** Does what is due with messages from inside that the valve holds back. `patient`: an answer may come at any time. */
  over(held: readonly InboxRow[], options: { patient: boolean }): Promise<LimitStanding>;
  /** A turn began, which may have made the question moot. */
  turnRan(): void;
}

/** `safety.on_limit`: what the session does over its cap. `poke` is called when an answer is there. */
export function createLimit(context: SessionContext, poke: () => void): Limit {
  const { journal, ports, settings } = context;
  let asked: { id: string; gone: AbortController; reply?: Reply } | undefined;

  const checkpoint = (action: string, extension: number) => {
    ports.audit.emit("safety_limit_checkpoint", context.id, {
      kind: "hook_driven_turns",
      allow_continue: extension > 0,
      reason: `${journal.state.valve.count} turns in a row were triggered from inside`,
      extension,
      agent_id: settings.agent,
      action,
    });
  };

  const closed = (action: string, held: readonly InboxRow[]) => {
    const { count } = journal.state.valve;
    ports.observe({ type: "valve_closed", count, cap: settings.cap, action, held: held.length });
  };

  /** Makes wakes passive, or drops them. */
  const holdBack = async (held: readonly InboxRow[]): Promise<void> => {
    const first = !journal.state.valve.closed;
    const ids = held.map((row) => row.id);
    const drop = settings.onLimit === "abort";
    const records: SessionRecord[] = first ? [{ t: "valve_closed", at: ports.clock.now() }] : [];
    const ops: Op[] = [drop ? { op: "consume", ids } : { op: "demote", ids }];
    const { question } = journal.state.valve;
    if (question !== null) {
      // Asked before the configuration was changed.
      records.push({ t: "valve_answered", at: ports.clock.now(), question, extended: false });
      ops.push({ op: "settle", question });
    }
    if (await journal.commit(records, ops) === "duplicate") return;
    if (question !== null) ports.interventions?.settled(question);
    const action = drop ? "abort" : "warn";
    if (drop) ports.audit.emit("inbox_dropped", context.id, { ids, reason: "safety.on_limit abort" });
    if (!first) return ports.observe({ type: "held_back", held: ids.length, action });
    checkpoint(action, 0);
    closed(action, held);
  };

  /** Closes the valve with a question. The held messages wait as they are, so that a yes finds them waking. */
  const close = async (held: readonly InboxRow[]): Promise<void> => {
    const question = closingQuestion(context, held);
    const { id, kind, title, lines, choices } = question;
    const body = { title, lines, choices } as unknown as JsonObject;
    const record: SessionRecord = { t: "valve_closed", at: ports.clock.now(), question: id };
    await journal.commit([record], [{ op: "ask", question: { id, kind, body } }]);
    ports.fault("valve:after_question");
    checkpoint("ask_user", 0);
    closed("ask_user", held);
  };

  const ask = (interventions: Interventions, id: string, held: readonly InboxRow[], patient: boolean) => {
    const gone = new AbortController();
    const one: NonNullable<typeof asked> = { id, gone };
    asked = one;
    const options = { keep: true, patient, ...(patient ? { limitMs: null } : {}) };
    const signal = AbortSignal.any([context.stopping, gone.signal]);
    void interventions.ask({ ...closingQuestion(context, held), id }, { ...options, signal })
      // A store that fails fails the session's own commits too; here it only means that there is no answer.
      .catch((): Reply => ({ status: "nobody" }))
      .then((reply) => {
        one.reply = reply;
        poke();
      });
  };

  const conclude = async (id: string, reply: Reply, held: readonly InboxRow[]): Promise<LimitStanding> => {
    const extended = reply.status === "answered" && reply.answer === "y";
    const record: SessionRecord = { t: "valve_answered", at: ports.clock.now(), question: id, extended };
    const ids = held.map((row) => row.id);
    const settle: Op = { op: "settle", question: id };
    await journal.commit([record], extended ? [settle] : [settle, { op: "demote", ids }]);
    ports.interventions?.settled(id);
    ports.fault("valve:after_answer");
    const by = reply.status === "answered" ? reply.by : reply.status;
    checkpoint(extended ? "ask_user" : "warn", extended ? settings.cap : 0);
    ports.observe({ type: "valve_answered", extended, by, cap: settings.cap, held: held.length });
    return extended ? "extended" : "held";
  };

  return {
    async over(held, { patient }) {
      const { interventions } = ports;
      const askable = settings.onLimit === "ask_user" && interventions !== undefined;
      if (!askable) {
        await holdBack(held);
        return "held";
      }
      const { valve } = journal.state;
      if (valve.question === null) {
        if (valve.closed || !(patient || interventions.listening(context.id))) {
          await holdBack(held);
          return "held";
        }
        await close(held);
      }
      const id = journal.state.valve.question;
      if (id === null) return "held";
      if (asked?.id === id) {
        const { reply } = asked;
        if (!reply) return "asking";
        asked = undefined;
        if (reply.status === "answered" || reply.status === "expired") return await conclude(id, reply, held);
        ports.observe({ type: "held_back", held: held.length, action: "ask_user" });
        return "open";
      }
      // Without anybody there it is put all the same: it may have been answered since it was asked.
      ask(interventions, id, held, patient);
      return "asking";
    },
    turnRan() {
      if (asked && asked.id !== journal.state.valve.question) {
        asked.gone.abort();
        asked = undefined;
      }
    },
  };
}
