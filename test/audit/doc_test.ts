import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { AUDIT_GROUPS } from "../../src/audit/events.ts";
import { AUDIT_FIELDS } from "../../src/audit/fields.ts";

interface Row {
  event: string;
  group: string;
  fields: string[];
}

/** The table as its reader sees it: a row without an event belongs to the one above. */
function documented(): Row[] {
  const text = readFileSync(new URL("../../docs/audit.md", import.meta.url), "utf8");
  const table = text.slice(text.indexOf("<!-- events -->"), text.indexOf("<!-- end of events -->"));
  const rows: Row[] = [];
  for (const line of table.split("\n").filter((line) => line.startsWith("|")).slice(2)) {
    const [event = "", group = "", , field = "", holds = ""] = line.split(/(?<!\\)\|/).slice(1).map((cell) =>
      cell.trim()
    );
    assert.notEqual(holds, "", line);
    if (event !== "") rows.push({ event, group, fields: [] });
    rows.at(-1)?.fields.push(field);
  }
  return rows;
}

describe("docs/audit.md", () => {
  it("lists exactly the events there are, with their groups and fields (else run scripts/docs/audit_doc.ts)", () => {
    const code = (name: string) => `\`${name}\``;
    const table = Object.entries(AUDIT_FIELDS).map(([type, { fields }]) =>
      [type, Object.keys(fields)] as const
    );
    const fields = new Map<string, string[]>(table);
    assert.deepEqual(
      documented(),
      Object.entries(AUDIT_GROUPS).map(([type, group]) => ({
        event: code(type),
        group,
        fields: (fields.get(type) ?? []).map(code),
      })),
    );
  });

  it("describes no event that is in no group", () => {
    assert.deepEqual(Object.keys(AUDIT_FIELDS).sort(), Object.keys(AUDIT_GROUPS).sort());
  });
});
