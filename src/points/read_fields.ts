import { type ContextFields, contextFields, makeContext, pointOf } from "./contexts.ts";
import type { DecisionContext, DecisionPoint, Decisions } from "./decision_shapes.ts";
import { decisionFields } from "./decisions.ts";
import type { FieldType } from "./fields.ts";
import { WORK_ITEM_FIELDS } from "./work_item.ts";

export type Read<T> = { ok: true; value: T } | { ok: false; reason: string };

/**
 * A context from plain JSON: what is missing takes its default, what is unknown is ignored, a known field of the wrong
 * type makes the whole unreadable. Never throws for plain data.
 */
export function readContext<P extends DecisionPoint>(point: P, data: unknown): Read<DecisionContext<P>> {
  if (!isRecord(data)) return { ok: false, reason: `must be an object, got ${formOf(data)}` };
  const known: Record<string, unknown> = {};
  for (const { name, type } of contextFields(point)) {
    if (!Object.hasOwn(data, name)) continue;
    const reason = misfit(type, data[name]);
    if (reason !== undefined) return { ok: false, reason: `${name} ${reason}` };
    known[name] = data[name];
  }
  return { ok: true, value: makeContext(point, known as ContextFields<P>) };
}

/**
 * The decisions that an answer names: null and undefined name none, an object (a context of the same point, or any
 * plain one) those that it has. Facts and unknown keys are ignored. One decision of the wrong type makes the whole answer
 * unreadable. Each field is read once. Throws only where reading the answer itself does.
 */
export function readAnswer<P extends DecisionPoint>(point: P, answer: unknown): Read<Partial<Decisions<P>>> {
  if (answer === null || answer === undefined) return { ok: true, value: {} };
  if (!isRecord(answer)) {
    return { ok: false, reason: `the answer must be null or an object, got ${formOf(answer)}` };
  }
  const of = pointOf(answer);
  if (of !== undefined && of !== point) {
    return { ok: false, reason: `the answer is a context of ${String(of)}, not of ${point}` };
  }
  const named: Record<string, unknown> = {};
  for (const { name, type } of decisionFields(point)) {
    if (!Object.hasOwn(answer, name)) continue;
    const value = answer[name];
    if (value === undefined) continue;
    const reason = misfit(type, value);
    if (reason !== undefined) return { ok: false, reason: `the answer's ${name} ${reason}` };
    named[name] = value;
  }
  return { ok: true, value: named as Partial<Decisions<P>> };
}

/** Why a value is not of a field's type; undefined when it is. */
function misfit(type: FieldType, value: unknown): string | undefined {
  switch (type) {
    case "string":
      return typeof value === "string" ? undefined : `must be a string, got ${formOf(value)}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `must be a boolean, got ${formOf(value)}`;
    case "string[]": {
      if (!Array.isArray(value)) return `must be a list of strings, got ${formOf(value)}`;
      const odd = value.find((item: unknown) => typeof item !== "string");
      return odd === undefined ? undefined : `must be a list of strings, got one with ${formOf(odd)}`;
    }
    case "work_item":
      return typeof value === "string" ? undefined : misfitWorkItem(value);
    default:
      return `cannot be of type ${type}`;
  }
}

function misfitWorkItem(value: unknown): string | undefined {
  if (!isRecord(value)) return `must be a work item, got ${formOf(value)}`;
  for (const [name, type] of Object.entries(WORK_ITEM_FIELDS)) {
    if (!Object.hasOwn(value, name)) continue;
    const fits = type === "integer" ? Number.isSafeInteger(value[name]) : typeof value[name] === "string";
    if (!fits) return `must be a work item, got one whose ${name} is ${formOf(value[name])}`;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The kind of a value, never the value. */
function formOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}
