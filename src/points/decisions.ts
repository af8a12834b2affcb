import type { DecisionPoint, Decisions, Facts } from "./decision_shapes.ts";
import { field, type FieldSpec, type FieldType } from "./fields.ts";
import type { WorkItem } from "./work_item.ts";

export type { DecisionPoint } from "./decision_shapes.ts";

/** The type that the table has to give a field whose values are of this type. */
type NameOf<Value> = Value extends string ? "string"
  : Value extends boolean ? "boolean"
  : Value extends string[] ? "string[]"
  : Value extends WorkItem ? "work_item"
  : never;

export interface FactSpec<T extends FieldType = FieldType> extends FieldSpec {
  type: T;
}

export interface DecisionFieldSpec<Value = string | boolean> extends FieldSpec {
  type: NameOf<Value>;
  default: Value;
}

export interface DecisionSpec<P extends DecisionPoint = DecisionPoint> {
  /** When it is asked, in one line. */
  asked: string;
  /** What the executor is told and cannot change, in declaration order. */
  facts: { readonly [F in keyof Facts<P>]: FactSpec<NameOf<Facts<P>[F]>> };
  /** What the executor may change, in declaration order. */
  decisions: { readonly [F in keyof Decisions<P>]: DecisionFieldSpec<Decisions<P>[F]> };
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

const text = (initial: string, meaning: string): DecisionFieldSpec<string> => ({
  type: "string",
  meaning,
  default: initial,
});
const flag = (initial: boolean, meaning: string): DecisionFieldSpec<boolean> => ({
  type: "boolean",
  meaning,
  default: initial,
});
const PROCEED = flag(true, "false refuses the step");
const REASON = text("", "why it is refused; shown to people");
const ANNOUNCE = flag(true, "false keeps the announcement back");

/** Compiles only when every decision point, with every field of its shape, is here. In the order of a work item's life. */
export const DECISIONS: { readonly [P in DecisionPoint]: DecisionSpec<P> } = {
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
      prompt: text("", "the boot text; holds the rendered one"),
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
      question: text("", "the published question; holds the real one"),
      summary: text("", "the published summary; holds the real one"),
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
      text: text("", "the text that is passed on"),
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
    decisions: { notify: flag(true, "false keeps the phase announcements back") },
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

/** The seven decision points, in the order in which a work item meets them. */
export const DECISION_POINTS = Object.keys(DECISIONS) as readonly DecisionPoint[];

export function isDecisionPoint(name: unknown): name is DecisionPoint {
  return typeof name === "string" && Object.hasOwn(DECISIONS, name);
}

/** The only points at which a step can be refused, and thus at which `required` stops anything. */
export type ProceedPoint = {
  [P in DecisionPoint]: "proceed" extends keyof Decisions<P> ? P : never;
}[DecisionPoint];

export function isProceedPoint(point: DecisionPoint): point is ProceedPoint {
  return Object.hasOwn(DECISIONS[point].decisions, "proceed");
}

export interface DecisionField {
  name: string;
  type: "string" | "boolean";
  initial: string | boolean;
}

const DECISION_FIELDS: ReadonlyMap<DecisionPoint, readonly DecisionField[]> = new Map(
  DECISION_POINTS.map((point) => {
    const specs: Readonly<Record<string, DecisionFieldSpec>> = DECISIONS[point].decisions;
    return [
      point,
      Object.entries(specs).map(([name, { type, default: initial }]) => ({ name, type, initial })),
    ];
  }),
);

/** What may be changed at a point, in declaration order. */
export function decisionFields(point: DecisionPoint): readonly DecisionField[] {
  return DECISION_FIELDS.get(point) ?? [];
}
