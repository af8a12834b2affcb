import { ZodError } from "zod";
import { type Clock, sleep } from "../clock/clock.ts";
import { isReynError, ReynError } from "../errors/reyn_error.ts";
import type { Interventions } from "../interventions/interventions.ts";
import type { Listener, Over } from "../interventions/listener.ts";
import { publicId } from "../interventions/question.ts";
import type { ServerClient } from "./client.ts";
import { closedForm, overFromForm, questionForm, questionFromForm } from "./question_form.ts";
import type { ReadEvent } from "./read_events.ts";

export interface RemoteInterventionsOptions {
  client: Pick<ServerClient, "follow" | "post">;
  /** `<agent>/<sid>`, of whose questions a surface is asked. */
  session: string;
  clock: Clock;
  /** Told why nothing is asked here, when that begins. */
  onProblem: (said: string) => void;
}

/** The queue of a server, for surfaces in this process. */
export interface RemoteInterventions extends Pick<Interventions, "attach" | "answer"> {
  /** Resolves when the server knows of the surfaces that were attached, or could not be told of them. */
  ready(): Promise<void>;
}

/** A surface that was cut off, or could not answer, comes back after this time. */
const AGAIN_MS = 500;

export function remoteInterventions(options: RemoteInterventionsOptions): RemoteInterventions {
  const { client, session, clock, onProblem } = options;
  const told: Promise<void>[] = [];

  /** Tells a surface what a stream of questions says. One that cannot be shown now ends it: nothing is to wait for this surface. */
  const follow = async (listener: Listener, events: AsyncIterable<ReadEvent>): Promise<void> => {
    const shown = new Map<string, (over: Over) => void>();
    try {
      for await (const { type, data } of events) {
        if (type === "asked") {
          if (listener.live?.() === false) return;
          const form = questionForm.parse(JSON.parse(data));
          if (!shown.has(form.id)) shown.set(form.id, listener.show(questionFromForm(form)));
        } else if (type === "closed") {
          const form = closedForm.parse(JSON.parse(data));
          shown.get(form.id)?.(overFromForm(form));
          shown.delete(form.id);
        }
      }
    } catch (error) {
      // A stream that breaks is opened anew.
      if (error instanceof ZodError) onProblem("the server is of another version");
    } finally {
      for (const tell of shown.values()) tell({ status: "detached" });
    }
  };

  /** Stays attached until the surface leaves. */
  const stay = async (listener: Listener, left: AbortSignal, known: () => void): Promise<void> => {
    const path = `/api/interventions?${new URLSearchParams({ session, rank: listener.rank })}`;
    let well = true;
    while (!left.aborted) {
      const over = new AbortController();
      try {
        if (listener.live?.() ?? true) {
          const events = await client.follow(path, AbortSignal.any([left, over.signal]));
          known();
          well = true;
          await follow(listener, events);
        }
      } catch (error) {
        if (well && !left.aborted) {
          onProblem(isReynError(error) ? error.message : "the server does not answer");
        }
        well = false;
      } finally {
        over.abort();
        known();
      }
      await sleep(clock, AGAIN_MS, left);
    }
  };

  return {
    attach(listener) {
      const left = new AbortController();
      told.push(
        new Promise((resolve) => {
          void stay(listener, left.signal, resolve);
        }),
      );
      return () => left.abort();
    },
    async answer(id, answer) {
      try {
        await client.post(`/api/interventions/${publicId(id)}`, { answer });
        return "taken";
      } catch (error) {
        if (!(error instanceof ReynError)) throw error;
        if (error.code === "E_QUESTION_OVER") return "answered";
        if (error.code === "E_QUESTION_CHOICE") return "not_a_choice";
        return "unknown";
      }
    },
    async ready() {
      await Promise.all(told);
    },
  };
}
