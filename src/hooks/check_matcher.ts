import type { Path, SectionContext } from "../config/section.ts";
import { didYouMean } from "../config/suggest.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import { GLOB_FIELDS, globWarning } from "../match/mod.ts";
import { COMPOSED_FIELDS, MATCHABLE_COMPOSED_FIELDS } from "../points/composed.ts";
import type { FieldSpec } from "../points/fields.ts";
import { type ReactionPoint, REACTIONS } from "../points/reactions.ts";

/** What a matcher is held against: the payload of a point, of a composed event, or of something unknown. */
export type Matched = { kind: "builtin"; point: ReactionPoint } | { kind: "composed" } | { kind: "open" };

/**
 * Reports what is wrong, or odd, with a matcher: a field that a point does not have is an error with `code`; one that a
 * composed event does not carry, a value that a field never has, and a glob that misleads are warnings.
 */
export function checkMatcher(
  matcher: Readonly<Record<string, string>> | null | undefined,
  target: Matched,
  { path, code }: { path: Path; code: ErrorCode },
  context: Pick<SectionContext, "report">,
): void {
  for (const [field, pattern] of Object.entries(matcher ?? {})) {
    const at = [...path, field];
    if (target.kind === "builtin") {
      const fields: Readonly<Record<string, FieldSpec>> = REACTIONS[target.point].fields;
      if (!Object.hasOwn(fields, field)) {
        const fix = didYouMean(field, Object.keys(fields)) ?? `one of ${Object.keys(fields).join(", ")}`;
        context.report(at, code, `${target.point} has no field "${field}"`, fix, "key");
      } else {
        checkValue(fields[field]?.values, { field, pattern, at }, context);
      }
    } else if (target.kind === "composed") {
      checkComposedField(field, at, context);
    }
    const odd = GLOB_FIELDS.has(field) ? globWarning(pattern) : undefined;
    if (odd !== undefined) context.report(at, "W_HOOK_GLOB", odd);
  }
}

/** A field with few values never has another one. */
function checkValue(
  values: readonly string[] | undefined,
  { field, pattern, at }: { field: string; pattern: string; at: Path },
  context: Pick<SectionContext, "report">,
): void {
  if (!values || values.includes(pattern)) return;
  const fix = didYouMean(pattern, values) ?? `one of ${values.join(", ")}`;
  context.report(at, "W_HOOK_VALUE", `${field} is never ${quote(pattern)}`, fix);
}

function checkComposedField(field: string, at: Path, context: Pick<SectionContext, "report">): void {
  if (MATCHABLE_COMPOSED_FIELDS.includes(field)) return;
  const carried = COMPOSED_FIELDS.some((name) => name === field);
  const message = carried
    ? `${field} of a composed event is a list or a map, which no pattern matches`
    : `a composed event carries no field ${quote(field)}`;
  const fix = didYouMean(field, MATCHABLE_COMPOSED_FIELDS) ??
    `one of ${MATCHABLE_COMPOSED_FIELDS.join(", ")}`;
  context.report(at, "W_MATCH_FIELD", message, fix, "key");
}
