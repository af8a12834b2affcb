import { MOST_BODY_BYTES } from "./limits.ts";

/** How one call of a plugin ended inside its process. */
export const INNER_OUTCOMES = [
  "ok",
  "exit",
  "trap",
  "launch_failed",
  "output_limit",
  "memory_limit",
  "log_limit",
  "call_limit",
] as const;
export type InnerOutcome = (typeof INNER_OUTCOMES)[number];

/** A folder that a plugin may reach: under which name, and where it is. */
export interface GrantedFolder {
  /** As the plugin names it. */
  guest: string;
  /** Absolute, symlinks followed. */
  host: string;
  write: boolean;
}

/** Head of a call; the input is the body. */
export interface CallHead {
  hash: string;
  export: string;
  /** Instances are kept by it: never shared between hooks, grants or limits. */
  instance: string;
  memoryBytes: number;
  outputBytes: number;
  logLines: number;
  logBytes: number;
  hostCalls: number;
  config: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string>>;
  /** `argv[1..]`. */
  args: readonly string[];
  folders: readonly GrantedFolder[];
  /** Milliseconds since 1970, by reyn's clock, as the call begins. */
  now: number;
}

export const DENIED_AXES = ["network", "read", "write"] as const;
export type DeniedAxis = (typeof DENIED_AXES)[number];

/** Something that a plugin tried and was refused. */
export interface Denied {
  axis: DeniedAxis;
  /** A host, or a path as the plugin named it; cut. */
  target: string;
  reason: string;
}

/** Most refusals of one call that are told one by one. */
export const MOST_DENIED = 8;
export const MOST_TARGET = 200;

/** What a result says beside its output. */
export interface ResultHead extends ResultWords {
  outcome: InnerOutcome;
  returncode: number;
  hostCalls: number;
  /** The guest's memory at the end. */
  memoryBytes: number;
}

export interface ResultWords {
  reason: string | null;
  /** The plugin's own error text. */
  error: string | null;
  /** The end of its log. */
  log: string;
  denied: Denied[];
  deniedMore: number;
}

/** Questions during a call. A value, and the body of a request, are the body of the frame. */
export type AskHead =
  | { ask: "var_get"; name: string }
  | { ask: "var_set"; name: string; remove: boolean }
  | { ask: "emit"; name: string; values: Record<string, number | boolean> }
  | { ask: "http"; url: string; method: string; headers: [string, string][] };

/** Names in what a plugin emits: no text of anybody's gets into the audit log by them. */
export const EMITTED_NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
export const MOST_EMITTED_VALUES = 16;

/** Answers. `ok: false` of a variable: it is not set, or was not taken (`reason`). */
export interface AnswerHead {
  ok: boolean;
  reason?: string;
  status?: number;
  headers?: readonly (readonly [string, string])[];
}

/** Largest head that a plugin's process sends: a request with as many headers as may be, every character escaped. */
const MOST_HEAD_BYTES = 1024 * 1024;
/** Largest frame that it sends. */
export const MOST_FRAME_FROM_CHILD = MOST_HEAD_BYTES + MOST_BODY_BYTES;
