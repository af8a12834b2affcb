import { didYouMean } from "../config/suggest.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { DECISION_POINTS } from "../points/decisions.ts";
import type { FieldSpec } from "../points/fields.ts";
import { type HookTarget, parseTarget, REACTION_POINTS, REACTIONS } from "../points/reactions.ts";

export type Payload = Record<string, unknown>;

/** The point that a person names; refused with what was meant. */
export function firedTarget(text: string): HookTarget {
  const target = parseTarget(text);
  if (target) return target;
  if ((DECISION_POINTS as readonly string[]).includes(text.trim())) {
    throw new ReynError(
      "E_HOOK_NOT_YET",
      `${text.trim()} is a decision point, and decision hooks are not there yet`,
      {
        exitCode: EXIT.usage,
      },
    );
  }
  throw new ReynError("E_HOOK_POINT", `there is no point ${quote(text)}`, {
    fix: didYouMean(text, REACTION_POINTS) ?? "`reyn hooks points` lists them",
    exitCode: EXIT.usage,
  });
}

/**
 * A payload for a point: what is given, and for all else something that the field could hold. A field that the point does
 * not have, or a value that the field never has, is refused; `composed:*` carries anything.
 */
export function firedPayload(target: HookTarget, given: Payload, agent: string): Payload {
  if (target.kind === "composed") return { inputs: [], correlation_key: "__default__", ...given };
  const fields: Readonly<Record<string, FieldSpec>> = REACTIONS[target.point].fields;
  const problems = Object.entries(given).flatMap(([name, value]) => problemOf(name, value, fields));
  if (problems.length > 0) {
    throw new ReynError("E_USAGE", `--data: ${problems.join("; ")}`, { exitCode: EXIT.usage });
  }
  const payload: Payload = {};
  for (const [name, spec] of Object.entries(fields)) {
    payload[name] = Object.hasOwn(given, name) ? given[name] : synthetic(name, spec, target.point, agent);
  }
  return payload;
}

function problemOf(name: string, value: unknown, fields: Readonly<Record<string, FieldSpec>>): string[] {
  const spec = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!spec) {
    const near = didYouMean(name, Object.keys(fields)) ?? `fields: ${Object.keys(fields).join(", ")}`;
    return [`the point has no field ${quote(name)} (${near})`];
  }
  if (!accepts(spec, value)) return [`${name} must be of type ${spec.type}`];
  const { values } = spec;
  const never = values !== undefined && !values.includes(String(value));
  return never ? [`${name} is never ${quote(String(value))} (${values.join(", ")})`] : [];
}

function accepts({ type }: FieldSpec, value: unknown): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "string|null":
      return value === null || typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "string[]":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "object[]":
      return Array.isArray(value) && value.every(isObject);
    case "object":
    case "work_item":
      return isObject(value);
  }
}

function synthetic(name: string, { type, values }: FieldSpec, point: string, agent: string): unknown {
  if (name === "point") return point;
  if (name === "agent_name" || name === "to" || name === "assignee") return agent;
  if (values?.[0] !== undefined) return values[0];
  switch (type) {
    case "string":
      return EXAMPLES[name] ?? "example";
    case "string|null":
      return null;
    case "boolean":
      return false;
    case "integer":
    case "number":
      return 0;
    case "string[]":
    case "object[]":
      return [];
    case "object":
    case "work_item":
      return {};
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  user_text: "example text",
  path: "example.txt",
  uri: "file:///example.txt",
  sender: "webhook:example",
  transport: "webhook",
};

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
