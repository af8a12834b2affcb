import { quote } from "../errors/quote.ts";
import { compileGlob } from "../match/mod.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";
import { DECISIONS } from "../points/decisions.ts";
import type { FieldSpec } from "../points/fields.ts";
import type { WorkItem } from "../points/work_item.ts";
import { MATCH_FIELDS, type MatchField, type MatchPatterns } from "./declaration.ts";

type Values = Readonly<Record<string, unknown>>;

/** What a work item's own `kind` can be. */
const ITEM_KINDS = ["issue", "pull-request", ""] as const;

/**
 * Compiles `match:`. Each pattern is a value or a glob of the whole value. `repository` is the work item's; `kind` is the
 * point's own where it has one, else the work item's; the others are the fact of that name.
 */
export function compileMatch(match: MatchPatterns): (context: Values) => boolean {
  const checks = MATCH_FIELDS.flatMap((field) => {
    const pattern = match[field];
    return pattern === undefined ? [] : [{ field, accepts: compileGlob(pattern) }];
  });
  if (checks.length === 0) return () => true;
  return (context) => checks.every(({ field, accepts }) => accepts(valueOf(field, context)));
}

function valueOf(field: MatchField, context: Values): string {
  const item = context["work_item"] as WorkItem;
  if (field === "repository") return item.repository;
  const own = context[field];
  return typeof own === "string" ? own : field === "kind" ? item.kind : "";
}

/** Why a pattern can never match at one of these points; undefined when it can at each. */
export function matchProblem(
  field: MatchField,
  pattern: string,
  points: readonly DecisionPoint[],
): string | undefined {
  if (field === "repository") return undefined;
  const accepts = compileGlob(pattern);
  for (const point of points) {
    const facts: Readonly<Record<string, FieldSpec>> = DECISIONS[point].facts;
    const spec = Object.hasOwn(facts, field) ? facts[field] : undefined;
    if (spec === undefined && field !== "kind") return `${point} carries no ${field}`;
    const values = spec === undefined ? ITEM_KINDS : spec.values;
    if (values && !values.some(accepts)) {
      const known = values.filter((value) => value !== "").join(", ");
      return `${quote(pattern)} never matches at ${point}, where ${field} is one of ${known}`;
    }
  }
  return undefined;
}
