import { field, type FieldSpec } from "./fields.ts";

/** The seven decision points, in the order in which a work item meets them. */
export const DECISION_POINTS = [
  "work_item_start",
  "session_spawn",
  "session_spawned",
  "waiting_for_input",
  "input_received",
  "phase_changed",
  "work_item_complete",
] as const;

export type DecisionPoint = (typeof DECISION_POINTS)[number];

export interface DecisionFieldSpec extends FieldSpec {
  default: string | boolean;
}

export interface DecisionSpec {
  /** When it is asked, in one line. */
  asked: string;
  /** What the executor is told and cannot change, in declaration order. */
  facts: Readonly<Record<string, FieldSpec>>;
  /** What the executor may change, in declaration order. */
  decisions: Readonly<Record<string, DecisionFieldSpec>>;
}

const WORK_ITEM = field("work_item", "the ticket or pull request");
const ENDPOINT = field("work_item", "the work item or one of its pull requests");
const LOOP = field("string", "the process graph in use");
const ACTOR = field("string", "who caused it");
const HARNESS = field("string", "the agent program");
const CWD = field("string", "the workspace");
const MODEL = field("string", "the model asked for");
const EFFORT = field("string", "the effort asked for");
const HARNESS_ARGS = field("string[]", "further arguments of the agent program");
const RESPAWN = field("boolean", "true when a dead session is started again");

const decision = (
  type: "string" | "boolean",
  initial: string | boolean,
  meaning: string,
): DecisionFieldSpec => ({
  type,
  meaning,
  default: initial,
});
const PROCEED = decision("boolean", true, "false refuses the step");
const REASON = decision("string", "", "why it is refused; shown to people");
const ANNOUNCE = decision("boolean", true, "false keeps the announcement back");

/** Compiles only when every decision point is here. */
export const DECISIONS: Readonly<Record<DecisionPoint, DecisionSpec>> = {
  work_item_start: {
    asked: "once per arming, before a workspace is prepared",
    facts: {
      work_item: WORK_ITEM,
      loop: LOOP,
      command: field("string", 'the control word; "" for the label alone'),
      actor: ACTOR,
      harness: HARNESS,
      instance: field("string", "the running instance"),
    },
    decisions: { proceed: PROCEED, reason: REASON },
  },
  session_spawn: {
    asked: "before each launch of an agent program, respawns too",
    facts: {
      work_item: WORK_ITEM,
      endpoint: ENDPOINT,
      harness: HARNESS,
      cwd: CWD,
      model: MODEL,
      effort: EFFORT,
      harness_args: HARNESS_ARGS,
      respawn: RESPAWN,
      loop: LOOP,
    },
    decisions: {
      prompt: decision("string", "", "the boot text; holds the rendered one"),
      proceed: PROCEED,
      reason: REASON,
    },
  },
  session_spawned: {
    asked: "after the launch, before it is announced",
    facts: {
      work_item: WORK_ITEM,
      endpoint: ENDPOINT,
      harness: HARNESS,
      harness_session_id: field("string", "the agent program's own session id"),
      tmux_target: field("string", "where it runs"),
      cwd: CWD,
      model: MODEL,
      effort: EFFORT,
      harness_args: HARNESS_ARGS,
      respawn: RESPAWN,
    },
    decisions: { announce: ANNOUNCE },
  },
  waiting_for_input: {
    asked: "before a question is published, and when a human node is entered",
    facts: {
      work_item: WORK_ITEM,
      kind: field("string", "what is waited for", ["question", "gate"]),
      node: field("string", "the graph node"),
      actor: ACTOR,
      loop: LOOP,
    },
    decisions: {
      question: decision("string", "", "the published question; holds the real one"),
      summary: decision("string", "", "the published summary; holds the real one"),
    },
  },
  input_received: {
    asked: "before an answer, a comment or a control command takes effect",
    facts: {
      work_item: WORK_ITEM,
      kind: field("string", "what came in", ["answer", "comment", "command"]),
      actor: ACTOR,
      source: field("string", "how it came in", ["comment", "verb"]),
      command: field("string", "the control word of a command"),
      event: field("string", "the ticket event of a comment"),
      endpoint: ENDPOINT,
      loop: LOOP,
    },
    decisions: {
      text: decision("string", "", "the text that is passed on"),
      proceed: PROCEED,
      reason: REASON,
    },
  },
  phase_changed: {
    asked: "when the phase label changes, and when a terminal node is claimed",
    facts: {
      work_item: WORK_ITEM,
      loop: LOOP,
      from_node: field("string", "the node left"),
      to_node: field("string", "the node entered"),
      from_phase: field("string", "the phase left"),
      to_phase: field("string", "the phase entered"),
      outcome: field("string", "the edge taken"),
      actor: field("string", "actor of the entered node"),
      terminal: field("boolean", "true at a terminal node"),
    },
    decisions: { notify: decision("boolean", true, "false keeps the phase announcements back") },
  },
  work_item_complete: {
    asked: "when the work item is closed or merged, before it is announced",
    facts: {
      work_item: WORK_ITEM,
      state: field("string", "how it ended", ["merged", "closed"]),
      kind: field("string", "issue or pull-request"),
      reason: field("string", "why it ended", ["issue-closed", "pr-merged", "pr-closed"]),
      source: field("string", "how it was noticed", ["webhook", "poll"]),
      actor: ACTOR,
      loop: LOOP,
    },
    decisions: { announce: ANNOUNCE },
  },
};
