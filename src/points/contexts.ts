import type { DecisionContext, DecisionPoint } from "./decision_shapes.ts";
import { DECISION_POINTS, decisionFields, DECISIONS, type FactSpec } from "./decisions.ts";
import type { FieldType } from "./fields.ts";
import { emptyWorkItem, type WorkItem, workItem } from "./work_item.ts";

/**
 * Under this symbol a context says of which point it is. It is not enumerable, so that a context is a plain object to
 * every reader, and it is the same in every copy of this module.
 */
const POINT = Symbol.for("reyn.decision_point");

/** Fields of a context as they may be given: any may be left out, and a work item may be its ref. */
export type ContextFields<P extends DecisionPoint> = {
  [F in keyof DecisionContext<P>]?: DecisionContext<P>[F] extends WorkItem ? Partial<WorkItem> | string
    : DecisionContext<P>[F];
};

type Values = Record<string, unknown>;

export interface ContextField {
  name: string;
  type: FieldType;
  initial: unknown;
}

/** Of the types that a context has; a list and a work item are made afresh for each. */
const EMPTY: Partial<Record<FieldType, unknown>> = { string: "", boolean: false };

/** Fields of each point, facts before decisions, in declaration order. */
const FIELDS: Readonly<Record<DecisionPoint, readonly ContextField[]>> = byPoint((point) => {
  const facts: Readonly<Record<string, FactSpec>> = DECISIONS[point].facts;
  return [
    ...Object.entries(facts).map(([name, { type }]) => ({ name, type, initial: EMPTY[type] ?? "" })),
    ...decisionFields(point).map(({ name, type, initial }) => ({ name, type, initial })),
  ];
});

/** A context of a point: a plain object with every field, those that are not given at their defaults. Copies deeply. */
export function makeContext<P extends DecisionPoint>(
  point: P,
  fields: ContextFields<P> = {},
): DecisionContext<P> {
  const given = fields as Values;
  const context: Values = {};
  for (const { name, type, initial } of FIELDS[point]) {
    const value = given[name];
    if (type === "work_item") context[name] = makeWorkItem(value as Partial<WorkItem> | string | undefined);
    else if (type === "string[]") context[name] = value === undefined ? [] : [...value as string[]];
    else context[name] = value === undefined ? initial : value;
  }
  Object.defineProperty(context, POINT, { value: point });
  return context as unknown as DecisionContext<P>;
}

/** A deep copy of a whole context. */
export function copyContext<P extends DecisionPoint>(
  point: P,
  context: DecisionContext<P>,
): DecisionContext<P> {
  const given = context as Values;
  const copy: Values = {};
  for (const { name, type } of FIELDS[point]) {
    const value = given[name];
    if (type === "work_item") copy[name] = { ...value as WorkItem };
    else copy[name] = type === "string[]" ? [...value as string[]] : value;
  }
  Object.defineProperty(copy, POINT, { value: point });
  return copy as unknown as DecisionContext<P>;
}

function makeWorkItem(value: Partial<WorkItem> | string | undefined): WorkItem {
  if (typeof value === "string") return value === "" ? emptyWorkItem() : workItem(value);
  return { ...emptyWorkItem(), ...value };
}

/** The point that a context is of; undefined for anything that is not a context. */
export function pointOf(value: unknown): DecisionPoint | undefined {
  if (typeof value !== "object" || value === null || !(POINT in value)) return undefined;
  return value[POINT] as DecisionPoint;
}

/** All fields of a point, facts before decisions. */
export function contextFields(point: DecisionPoint): readonly ContextField[] {
  return FIELDS[point];
}

/** One class a point: `new SessionSpawn({work_item: "github:o/r#3"})` makes a context of `session_spawn`. */
export interface ContextClass<P extends DecisionPoint> {
  new (fields?: ContextFields<P>): DecisionContext<P>;
  readonly point: P;
}

function contextClass<P extends DecisionPoint>(point: P): ContextClass<P> {
  class Context {
    static readonly point = point;
    static [Symbol.hasInstance](value: unknown): boolean {
      return pointOf(value) === point;
    }
    constructor(fields?: ContextFields<P>) {
      return makeContext(point, fields);
    }
  }
  return Context as unknown as ContextClass<P>;
}

/** A work item is about to be started. Decisions: `proceed`, `reason`. */
export type WorkItemStart = DecisionContext<"work_item_start">;
export const WorkItemStart: ContextClass<"work_item_start"> = contextClass("work_item_start");
/** An agent program is about to be launched. Decisions: `prompt`, `proceed`, `reason`. */
export type SessionSpawn = DecisionContext<"session_spawn">;
export const SessionSpawn: ContextClass<"session_spawn"> = contextClass("session_spawn");
/** An agent program was launched. Decision: `announce`. */
export type SessionSpawned = DecisionContext<"session_spawned">;
export const SessionSpawned: ContextClass<"session_spawned"> = contextClass("session_spawned");
/** A person is about to be waited for. Decisions: `question`, `summary`. */
export type WaitingForInput = DecisionContext<"waiting_for_input">;
export const WaitingForInput: ContextClass<"waiting_for_input"> = contextClass("waiting_for_input");
/** A person's input came in. Decisions: `text`, `proceed`, `reason`. */
export type InputReceived = DecisionContext<"input_received">;
export const InputReceived: ContextClass<"input_received"> = contextClass("input_received");
/** The phase label changed, or a terminal node was claimed. Decision: `notify`. */
export type PhaseChanged = DecisionContext<"phase_changed">;
export const PhaseChanged: ContextClass<"phase_changed"> = contextClass("phase_changed");
/** The work item was closed or merged. Decision: `announce`. */
export type WorkItemComplete = DecisionContext<"work_item_complete">;
export const WorkItemComplete: ContextClass<"work_item_complete"> = contextClass("work_item_complete");

function byPoint<T>(make: (point: DecisionPoint) => T): Readonly<Record<DecisionPoint, T>> {
  return Object.fromEntries(DECISION_POINTS.map((point) => [point, make(point)])) as Record<DecisionPoint, T>;
}
