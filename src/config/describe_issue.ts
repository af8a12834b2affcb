import type { z } from "zod";
import { quote } from "../errors/quote.ts";
import { show } from "./scalars.ts";

const FORMS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "a mapping",
  record: "a mapping",
  null: "empty",
};

/** The message for an issue for which its schema has no text of its own. */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const got = `, got ${show(value)}`;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${FORMS[issue.expected] ?? issue.expected}${got}`;
    case "invalid_value":
      return `must be ${oneOf(issue.values)}${got}`;
    case "invalid_union":
      if (issue.inclusive !== false && issue.options) return `must be ${oneOf(issue.options)}${got}`;
      return `is none of the allowed forms${got}`;
    case "too_small":
      return `${limit(issue.origin, "at least", issue.minimum, issue.inclusive, value)}`;
    case "too_big":
      return `${limit(issue.origin, "at most", issue.maximum, issue.inclusive, value)}`;
    case "not_multiple_of":
      return issue.divisor === 1
        ? `must be a whole number${got}`
        : `must be a multiple of ${issue.divisor}${got}`;
    case "invalid_format":
      return issue.pattern ? `must match ${issue.pattern}${got}` : `must be a valid ${issue.format}${got}`;
    case "invalid_key":
    case "invalid_element":
    case "unrecognized_keys":
    case "custom":
      return `is not usable${got}`;
    default:
      return `is not usable${got}`;
  }
}

function limit(
  origin: string,
  word: "at least" | "at most",
  bound: number | bigint,
  inclusive: boolean | undefined,
  value: unknown,
): string {
  const strict = word === "at least" ? "more than" : "less than";
  const amount = `${inclusive === false ? strict : word} ${bound}`;
  if (origin === "string") {
    if (word === "at least" && value === "") return "must not be empty";
    return `must have ${amount} ${bound === 1 ? "character" : "characters"}`;
  }
  if (origin === "array" || origin === "set") {
    if (word === "at least" && Array.isArray(value) && value.length === 0) return "must not be empty";
    return `must have ${amount} ${bound === 1 ? "entry" : "entries"}`;
  }
  return `must be ${amount}, got ${show(value)}`;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => typeof value === "string" ? quote(value) : String(value));
  return shown.length === 1 ? String(shown[0]) : `one of ${shown.join(", ")}`;
}
