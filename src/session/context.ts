import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Dispatcher } from "../hooks/dispatcher.ts";
import type { Interventions } from "../interventions/interventions.ts";
import type { Model } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import type { SessionEvent } from "./events.ts";
import type { Journal } from "./journal.ts";
import type { SessionBus } from "./session_bus.ts";

export interface SessionSettings {
  agent: string;
  sid: string;
  /** Turns from inside in a row; 0: no bound. */
  cap: number;
  onLimit: "warn" | "ask_user" | "abort";
  /** Message kinds that reset the valve besides `user`. */
  resetOn: readonly string[];
  /** What happens to a turn that was interrupted. */
  resume: "retry" | "skip";
  instructions?: string;
}

/** What a session works with. */
export interface SessionPorts {
  store: Store;
  clock: Clock;
  audit: Audit;
  hooks: Dispatcher;
  /** Null: there are no composers, and nothing is published. */
  bus: SessionBus | null;
  model: Model;
  /** Where people are asked; absent: nobody ever is. */
  interventions?: Interventions;
  /** Told of everything a person who watches wants to see. */
  observe: (event: SessionEvent) => void;
  /** Told of each session, other than this one, in whose inbox this one has put a message, durably. */
  routed: (session: string, waking: boolean) => void;
  /** Told that the inbox may hold something while no turns are taken. */
  wanted: () => void;
  /** Marks the labelled points at which a crash is tried out. */
  fault: (label: string) => void;
}

export interface SessionContext {
  /** `<agent>/<sid>`. */
  id: string;
  settings: SessionSettings;
  ports: SessionPorts;
  journal: Journal;
  /** Aborted when the session is to stop; a running turn is then interrupted. */
  stopping: AbortSignal;
}
