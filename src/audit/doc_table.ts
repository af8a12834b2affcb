import { AUDIT_GROUPS, type AuditType } from "./events.ts";
import { AUDIT_FIELDS } from "./fields.ts";

/** The Markdown table of docs/audit.md: every event in the order of its table, one row a field. */
export function auditDocTable(): string {
  const rows = [["event", "group", "says", "field", "holds"]];
  for (const type of Object.keys(AUDIT_GROUPS) as AuditType[]) {
    const { says, fields } = AUDIT_FIELDS[type];
    const head = [`\`${type}\``, AUDIT_GROUPS[type], says];
    const list = Object.entries<string>(fields);
    list.forEach(([field, holds], index) =>
      rows.push([...(index === 0 ? head : ["", "", ""]), `\`${field}\``, holds])
    );
  }
  return table(rows);
}

function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`;
  return rows.map((row, index) => index === 0 ? line(row) + rule : line(row)).join("");
}
