import { checkJsonPattern, jsonMismatches } from "./match_json.ts";
import { anything, isMap, list, type Of, optional, record, type Shape, text } from "./shape.ts";
import { diffLines, tail } from "./diff.ts";
import { pattern, texts } from "./values.ts";

const jsonPattern: Shape<{ pattern: unknown }> = (value, path, context) => ({
  pattern: checkJsonPattern(value, path, context),
});

const questions = record({
  exact: optional(text),
  contains: optional(texts),
  absent: optional(texts),
  regex: optional((value, path, context) =>
    Array.isArray(value) ? list(pattern, 1)(value, path, context) : [pattern(value, path, context)]
  ),
  lines: optional(list(anything)),
  json: optional(jsonPattern),
  json_lines: optional((value, path, context) =>
    list(anything)(value, path, context).map((line, index) => jsonPattern(line, [...path, index], context))
  ),
});

/** What a text has to be; all of what is asked has to hold. */
export type TextMatcher = Omit<Of<typeof questions>, "lines"> & { lines?: TextMatcher[] };

/** A text as it is, or a map with any of exact, contains, absent, regex, lines, json, json_lines. */
export const textMatcher: Shape<TextMatcher> = (value, path, context) => {
  if (typeof value === "string") return { exact: value };
  if (!isMap(value)) {
    context.report(
      path,
      "a text, or a map with any of exact, contains, absent, regex, lines, json, json_lines",
    );
    return {};
  }
  if (Object.keys(value).length === 0) context.report(path, "it asks for nothing");
  const { lines, ...rest } = questions(value, path, context);
  if (lines === undefined) return rest;
  return {
    ...rest,
    lines: lines.map((line, index) => textMatcher(line, [...path, "lines", index], context)),
  };
};

export interface TextOptions {
  /** One newline at the very end counts for nothing, as it does in a terminal. */
  looseEnd?: boolean;
}

/** What does not hold, readable, or nothing. */
export function textMismatch(
  actual: string,
  wanted: TextMatcher,
  options: TextOptions = {},
): string | undefined {
  const problems: string[] = [];
  const end = (value: string) => options.looseEnd && value.endsWith("\n") ? value.slice(0, -1) : value;
  if (wanted.exact !== undefined && end(actual) !== end(wanted.exact)) {
    problems.push(`differs from what is expected:\n${diffLines(wanted.exact, actual)}`);
  }
  for (const piece of wanted.contains ?? []) {
    if (!actual.includes(piece)) {
      problems.push(`does not contain ${JSON.stringify(piece)}; it is:\n${tail(actual)}`);
    }
  }
  for (const piece of wanted.absent ?? []) {
    if (actual.includes(piece)) problems.push(`contains ${JSON.stringify(piece)}; it is:\n${tail(actual)}`);
  }
  for (const regex of wanted.regex ?? []) {
    if (!regex.test(actual)) problems.push(`does not match /${regex.source}/; it is:\n${tail(actual)}`);
  }
  if (wanted.lines) problems.push(...lineProblems(actual, wanted.lines));
  if (wanted.json) problems.push(...jsonProblems(actual, wanted.json.pattern));
  if (wanted.json_lines) {
    const lines = splitLines(actual).filter((line) => line.trim() !== "");
    if (lines.length !== wanted.json_lines.length) {
      problems.push(
        `has ${lines.length} lines of JSON, not ${wanted.json_lines.length}; it is:\n${tail(actual)}`,
      );
    } else {
      wanted.json_lines.forEach((line, index) =>
        problems.push(
          ...jsonProblems(lines[index] ?? "", line.pattern).map((text) => `line ${index + 1} ${text}`),
        )
      );
    }
  }
  return problems.length > 0 ? problems.join("\n") : undefined;
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function lineProblems(actual: string, wanted: readonly TextMatcher[]): string[] {
  const lines = splitLines(actual);
  if (lines.length !== wanted.length) {
    return [`has ${lines.length} lines, not ${wanted.length}; it is:\n${tail(actual)}`];
  }
  return wanted.flatMap((matcher, index) => {
    const problem = textMismatch(lines[index] ?? "", matcher);
    return problem === undefined ? [] : [`line ${index + 1} ${problem}`];
  });
}

function jsonProblems(actual: string, wanted: unknown): string[] {
  let value: unknown;
  try {
    value = JSON.parse(actual);
  } catch {
    return [`is not JSON; it is:\n${tail(actual)}`];
  }
  return jsonMismatches(value, wanted).map((problem) => `as JSON: ${problem}`);
}
