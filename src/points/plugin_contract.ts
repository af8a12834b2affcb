import type { DecisionPoint } from "./decisions.ts";
import type { ReactionPayloads, ReactionPoint } from "./reactions.ts";

/** The input of a plugin that an `exec` or `exec_capture` hook runs, as JSON. */
export type PluginEvent =
  | { readonly [P in ReactionPoint]: Readonly<ReactionPayloads[P]> & { readonly point: P } }[ReactionPoint]
  | Readonly<Record<string, unknown>>;

/** The output of a plugin that an `exec_capture` hook runs, as JSON; no output is no push. */
export interface PluginDirective {
  /** false: nothing is pushed. */
  push_when: boolean;
  /** true starts a turn, false waits for the next. */
  wake: boolean;
  /** Not empty; taken as it is, never as a template. */
  message: string;
  /** The session to push to. Default: this one. */
  session?: string | null;
}

/** The input of a plugin that is asked at a decision point, as JSON. */
export interface PluginQuestion {
  method: DecisionPoint;
  /** Facts and decisions of the point, by name, as `reyn hooks points` lists them. */
  params: Readonly<Record<string, unknown>>;
}

/** Its output, as JSON: the decisions to change, or null. */
export type PluginAnswer = Readonly<Record<string, string | boolean>> | null;

/** What `http_request` takes, as JSON. */
export interface PluginHttpRequest {
  /** Absolute, http or https. */
  url: string;
  /** Default GET. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  headers?: Readonly<Record<string, string>>;
}

/** What `emit` takes, as JSON. Numbers and truth values only: the audit log holds no content. */
export interface PluginEmit {
  /** `[a-z][a-z0-9_.-]*`, at most 64 characters. */
  name: string;
  /** At most 16, named likewise. */
  values?: Readonly<Record<string, number | boolean>>;
}
