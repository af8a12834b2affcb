import type { WorkItem } from "./work_item.ts";

/** What is asked at a point that may refuse the step. */
export interface Refusable {
  /** False refuses the step. */
  proceed: boolean;
  /** Why it is refused; shown to people. */
  reason: string;
}

/**
 * What each decision point carries. Facts are what a hook is told; decisions are what it may change. The table in
 * `decisions.ts` compiles only when it has exactly these fields with these types.
 */
export interface DecisionShapes {
  work_item_start: {
    facts: {
      work_item: WorkItem;
      loop: string;
      command: string;
      actor: string;
      harness: string;
      instance: string;
    };
    decisions: Refusable;
  };
  session_spawn: {
    facts: {
      work_item: WorkItem;
      endpoint: WorkItem;
      harness: string;
      cwd: string;
      model: string;
      effort: string;
      harness_args: string[];
      respawn: boolean;
      loop: string;
    };
    decisions: { prompt: string } & Refusable;
  };
  session_spawned: {
    facts: {
      work_item: WorkItem;
      endpoint: WorkItem;
      harness: string;
      harness_session_id: string;
      tmux_target: string;
      cwd: string;
      model: string;
      effort: string;
      harness_args: string[];
      respawn: boolean;
    };
    decisions: { announce: boolean };
  };
  waiting_for_input: {
    facts: { work_item: WorkItem; kind: string; node: string; actor: string; loop: string };
    decisions: { question: string; summary: string };
  };
  input_received: {
    facts: {
      work_item: WorkItem;
      kind: string;
      actor: string;
      source: string;
      command: string;
      event: string;
      endpoint: WorkItem;
      loop: string;
    };
    decisions: { text: string } & Refusable;
  };
  phase_changed: {
    facts: {
      work_item: WorkItem;
      loop: string;
      from_node: string;
      to_node: string;
      from_phase: string;
      to_phase: string;
      outcome: string;
      actor: string;
      terminal: boolean;
    };
    decisions: { notify: boolean };
  };
  work_item_complete: {
    facts: {
      work_item: WorkItem;
      state: string;
      kind: string;
      reason: string;
      source: string;
      actor: string;
      loop: string;
    };
    decisions: { announce: boolean };
  };
}

export type DecisionPoint = keyof DecisionShapes;
export type Facts<P extends DecisionPoint> = DecisionShapes[P]["facts"];
export type Decisions<P extends DecisionPoint> = DecisionShapes[P]["decisions"];

/** What a hook is handed at a point: its facts and its decisions, side by side, as on the wire. */
export type DecisionContext<P extends DecisionPoint = DecisionPoint> = Facts<P> & Decisions<P>;
