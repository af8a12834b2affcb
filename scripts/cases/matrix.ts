import { type Context, isMap, type Path } from "./shape.ts";

/** One set of values; `name` labels the row. */
export type Row = Readonly<Record<string, unknown>>;

/** What the runner itself puts in, by upper-case name. */
export const BUILTINS = ["CONTROL", "HOME", "TEMP", "CASE", "REYN", "PORT"] as const;
export type Builtins = Readonly<Record<(typeof BUILTINS)[number], string>>;

const PLACE = /<<([A-Za-z_][A-Za-z0-9_]*)>>/g;

/** The rows of a case: those of `matrix`, or the one empty row. */
export function readRows(raw: unknown, context: Context): Row[] {
  if (!isMap(raw) || !("matrix" in raw)) return [{}];
  const { matrix } = raw;
  if (!Array.isArray(matrix) || matrix.length === 0) {
    context.report(["matrix"], "a list of maps, one a row, is expected");
    return [{}];
  }
  const rows: Row[] = [];
  matrix.forEach((row: unknown, index) => {
    const path = ["matrix", index];
    if (!isMap(row)) return context.report(path, "a map of names to values is expected");
    for (const name of Object.keys(row)) {
      if (!/^[a-z_][a-z0-9_]*$/.test(name)) {
        context.report([...path, name], "a name is of a-z, 0-9 and _", "key");
      }
    }
    const missing = Object.keys(isMap(matrix[0]) ? matrix[0] : {}).filter((name) => !(name in row));
    if (missing.length > 0) context.report(path, `this row does not say ${missing.join(", ")}`);
    rows.push(row);
  });
  return rows.length > 0 ? rows : [{}];
}

/**
 * Puts the values of a row and of the runner in place of `<<name>>`. A text that is nothing but one place takes the
 * value as it is, be it a list or a map; elsewhere the value stands as text.
 */
export function fillIn(raw: unknown, row: Row, builtins: Builtins, context: Context): unknown {
  const used = new Set<string>();
  const valueOf = (name: string, path: Path): unknown => {
    used.add(name);
    if (Object.hasOwn(row, name)) return row[name];
    const builtin = BUILTINS.find((known) => known === name);
    if (builtin) return builtins[builtin];
    context.report(path, `<<${name}>> is neither a name of the matrix nor one of ${BUILTINS.join(", ")}`);
    return "";
  };
  const fill = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") {
      const alone = /^<<([A-Za-z_][A-Za-z0-9_]*)>>$/.exec(value)?.[1];
      if (alone !== undefined) return valueOf(alone, path);
      return value.replace(PLACE, (_, name: string) => asText(valueOf(name, path)));
    }
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const below = [...path, key];
        const name = key.replace(PLACE, (_, found: string) => asText(valueOf(found, below)));
        return [name, below.length === 1 && key === "matrix" ? item : fill(item, below)];
      }),
    );
  };
  const filled = fill(raw, []);
  for (const name of Object.keys(row)) {
    if (name !== "name" && !used.has(name)) {
      context.report(["matrix"], `no <<${name}>> uses what the matrix says`);
    }
  }
  return filled;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
