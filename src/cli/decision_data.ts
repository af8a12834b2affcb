import process from "node:process";
import { readTextFile } from "../config/read_file.ts";
import { didYouMean } from "../config/suggest.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { DecisionContext, DecisionPoint } from "../points/decision_shapes.ts";
import { DECISION_POINTS, isDecisionPoint } from "../points/decisions.ts";
import { contextFields } from "../points/contexts.ts";
import { readContext } from "../points/read_fields.ts";

const MOST_BYTES = 16 * 1024 * 1024;

/** The decision point that `--point` names. Throws E_USAGE. */
export function decisionPointOf(name: unknown): DecisionPoint {
  if (isDecisionPoint(name)) return name;
  const text = typeof name === "string" ? name : "";
  throw usage(
    `${quote(text)} is no decision point`,
    didYouMean(text, DECISION_POINTS) ?? `the points are ${DECISION_POINTS.join(", ")}`,
  );
}

/**
 * The context that `--data` gives: JSON, or `@file`; what is missing is made up. Throws E_USAGE for what is no JSON object,
 * for a field that the point does not have, and for one of the wrong type.
 */
export function contextOf<P extends DecisionPoint>(point: P, data: unknown): DecisionContext<P> {
  const text = typeof data === "string" ? data : "{}";
  const fields = asObject(parse(text.startsWith("@") ? fileText(text.slice(1)) : text));
  const known = contextFields(point).map((field) => field.name);
  const odd = Object.keys(fields).find((key) => !known.includes(key));
  if (odd !== undefined) {
    throw usage(
      `--data: ${point} has no field ${quote(odd)}`,
      didYouMean(odd, known) ?? `it has ${known.join(", ")}`,
    );
  }
  const read = readContext(point, fields);
  if (!read.ok) throw usage(`--data: ${read.reason}`);
  return read.value;
}

function asObject(value: unknown): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw usage("--data must be a JSON object");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usage("--data is no JSON");
  }
}

function fileText(path: string): string {
  const read = readTextFile(path, path, MOST_BYTES);
  if (read.state === "text") return read.text;
  throw usage(`--data: ${path} ${read.state === "failed" ? read.finding.message : "does not exist"}`);
}

function usage(message: string, fix?: string): ReynError {
  return new ReynError("E_USAGE", message, { exitCode: EXIT.usage, ...(fix === undefined ? {} : { fix }) });
}

/** Writes one JSON line, or text lines, to stdout. */
export function print(json: boolean, value: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map((line) => `${line}\n`).join(""));
}
