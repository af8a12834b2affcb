import { readFileSync } from "node:fs";
import { auditDocTable } from "../../src/audit/doc_table.ts";
import { CATALOGUE } from "../../src/errors/catalogue.ts";
import { EXIT_MEANINGS } from "../../src/errors/exit_codes.ts";
import { DECISION_POINTS, DECISIONS } from "../../src/points/decisions.ts";
import type { FieldSpec } from "../../src/points/fields.ts";
import { hasSource, REACTION_POINTS, REACTIONS } from "../../src/points/reactions.ts";
import { metricDocRows } from "../../src/server/metric_doc.ts";
import { routeDocRows } from "../../src/server/route_doc.ts";

/** A part of a manual page that is written from a table of the source. */
export interface DocTable {
  file: string;
  /** Stands between `<!-- MARK -->` and `<!-- end of MARK -->`. */
  mark: string;
  text(): string;
}

export const DOC_TABLES: readonly DocTable[] = [
  { file: "docs/audit.md", mark: "events", text: auditDocTable },
  { file: "docs/errors.md", mark: "codes", text: errorTable },
  { file: "docs/errors.md", mark: "exit codes", text: exitTable },
  { file: "docs/http-api.md", mark: "calls", text: () => table(routeDocRows()) },
  { file: "docs/operation.md", mark: "metrics", text: () => table(metricDocRows()) },
  { file: "docs/points.md", mark: "reactions", text: reactionTable },
  { file: "docs/points.md", mark: "decisions", text: decisionTable },
];

export function pageOf(table: DocTable): { url: URL; text: string } {
  const url = new URL(`../../${table.file}`, import.meta.url);
  return { url, text: readFileSync(url, "utf8") };
}

/** Tables that differ from their source in more than padding. */
export function outdatedTables(): DocTable[] {
  const cells = (text: string) => text.replace(/ +/g, " ").replace(/-+/g, "-");
  return DOC_TABLES.filter((table) => {
    const { text } = pageOf(table);
    return cells(text) !== cells(withTable(text, table));
  });
}

/** The page with the table written into its place. Throws when the page has no marks for it. */
export function withTable(page: string, { file, mark, text }: DocTable): string {
  const begin = `<!-- ${mark} -->\n`;
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf(`<!-- end of ${mark} -->`);
  if (from < begin.length || to < from) throw new Error(`${file} has no marks for ${mark}`);
  return `${page.slice(0, from)}\n${text()}\n${page.slice(to)}`;
}

function errorTable(): string {
  const rows = Object.entries(CATALOGUE).map((
    [code, { severity, meaning }],
  ) => [`\`${code}\``, severity, meaning]);
  return table([["code", "severity", "means"], ...rows]);
}

function exitTable(): string {
  return table([["exit code", "means"], ...EXIT_MEANINGS.map(([code, meaning]) => [code, meaning])]);
}

function reactionTable(): string {
  const rows = [["point", "fires when", "field", "type", "holds"]];
  for (const point of REACTION_POINTS) {
    const spec = REACTIONS[point];
    const when = hasSource(point) ? spec.fires : `${spec.fires} (not there yet)`;
    rows.push(...fieldRows([`\`${point}\``, when], spec.fields));
  }
  return table(rows);
}

function decisionTable(): string {
  const rows = [["point", "asked", "field", "type", "holds"]];
  for (const point of DECISION_POINTS) {
    const { asked, facts, decisions } = DECISIONS[point];
    rows.push(...fieldRows([`\`${point}\``, asked], facts));
    rows.push(...fieldRows(["", "may change:"], decisions));
  }
  return table(rows);
}

function fieldRows(head: readonly string[], fields: Readonly<Record<string, FieldSpec>>): string[][] {
  return Object.entries(fields).map(([name, { type, meaning, values }], index) => [
    ...(index === 0 ? head : ["", ""]),
    `\`${name}\``,
    type.replace("|", " or "),
    values ? `${meaning}: ${values.join(", ")}` : meaning,
  ]);
}

function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`;
  return rows.map((row, index) => index === 0 ? line(row) + rule : line(row)).join("");
}
