import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { DECISION_POINTS, DECISIONS } from "../points/decisions.ts";
import type { FieldSpec } from "../points/fields.ts";
import { hasSource, namespacedName, REACTION_POINTS, REACTIONS } from "../points/reactions.ts";
import type { GlobalOptions } from "./host.ts";

/** `reyn hooks points`: every point with what it carries. */
export async function hooksPointsVerb(globals: GlobalOptions): Promise<number> {
  process.stdout.write(globals.json ? `${JSON.stringify(pointsJson())}\n` : pointsText());
  return EXIT.ok;
}

export function pointsJson() {
  return {
    reactions: REACTION_POINTS.map((point) => ({
      point,
      namespaced: namespacedName(point),
      family: REACTIONS[point].family,
      fires: REACTIONS[point].fires,
      source: REACTIONS[point].source,
      available: hasSource(point),
      fields: fieldsJson(REACTIONS[point].fields),
    })),
    decisions: DECISION_POINTS.map((point) => ({
      point,
      asked: DECISIONS[point].asked,
      facts: fieldsJson(DECISIONS[point].facts),
      decisions: fieldsJson(DECISIONS[point].decisions),
    })),
  };
}

function fieldsJson(fields: Readonly<Record<string, FieldSpec>>) {
  return Object.entries(fields).map(([name, spec]) => ({ name, ...spec }));
}

function pointsText(): string {
  const lines = ["Reactions (hooks in reyn.yaml):", ""];
  for (const point of REACTION_POINTS) {
    const spec = REACTIONS[point];
    lines.push(`${point}${hasSource(point) ? "" : "  (not there yet)"}`);
    lines.push(`  ${spec.fires}; also written ${namespacedName(point)}`);
    lines.push(...fieldLines(spec.fields));
  }
  lines.push(
    "composed:<name>",
    "  a composer's event  (not there yet)",
    "  inputs  object[]  payloads in order of arrival",
  );
  lines.push(
    "  correlation_key  string  the key, or __default__",
    "",
    "Decisions (hooks in cli-config.yaml, asked in this order; what fires them is not there yet):",
    "",
  );
  for (const point of DECISION_POINTS) {
    const spec = DECISIONS[point];
    lines.push(point, `  ${spec.asked}`, ...fieldLines(spec.facts), "  may change:");
    lines.push(...fieldLines(spec.decisions).map((line) => `  ${line}`));
  }
  return lines.join("\n") + "\n";
}

function fieldLines(fields: Readonly<Record<string, FieldSpec>>): string[] {
  return Object.entries(fields).map(([name, spec]) => {
    const values = spec.values ? ` (${spec.values.join(", ")})` : "";
    return `  ${name}  ${spec.type}  ${spec.meaning}${values}`;
  });
}
