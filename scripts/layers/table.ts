/** One row of the design's table of rooms. A row may import the rows below it, in this order. */
export interface Row {
  name: string;
  rooms: readonly string[];
  /**
   * Whether rooms of this row may import each other: `none`; or `ordered`, an earlier room may import a later one.
   */
  siblings: "none" | "ordered";
}

export const ROWS: readonly Row[] = [
  { name: "entry", rooms: ["main", "test_main", "mod"], siblings: "none" },
  { name: "cli", rooms: ["cli"], siblings: "none" },
  { name: "server", rooms: ["server"], siblings: "none" },
  { name: "delivery", rooms: ["delivery"], siblings: "none" },
  { name: "runtime", rooms: ["runtime"], siblings: "none" },
  {
    name: "capabilities",
    rooms: ["pipelines", "sources", "tools", "agents", "skills", "tasks", "decisions"],
    siblings: "none",
  },
  { name: "session", rooms: ["session"], siblings: "none" },
  { name: "hooks", rooms: ["composers", "hooks", "bus"], siblings: "ordered" },
  {
    name: "services",
    rooms: ["interventions", "consent", "sandbox", "egress", "store", "model", "audit", "match", "template"],
    siblings: "none",
  },
  { name: "ground", rooms: ["config", "points", "adapter", "clock", "errors"], siblings: "ordered" },
];

/** Rooms that may import only what is listed, whatever their row allows. */
export const ONLY: Readonly<Record<string, readonly string[]>> = { sdk: ["points"] };

/** Arrows between rooms of one row, or against the order, that are allowed nevertheless. */
export const EXTRA: readonly (readonly [from: string, to: string])[] = [];

/** The one room that may name a runtime. */
export const ADAPTER = "src/adapter/";

export const LONGEST_FILE = 400;

const ranks = new Map(
  ROWS.flatMap((row, rank) => row.rooms.map((room, order) => [room, { row, rank, order }])),
);

/** Why `from` may not import `to`, or nothing when it may. */
export function refusal(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  const only = ONLY[from];
  if (only) return only.includes(to) ? undefined : `${from} may import ${only.join(", ")} only`;
  const source = ranks.get(from);
  const target = ranks.get(to);
  if (!source) return `room ${from} stands in no row of the table`;
  if (!target) return `${to} is not for importing from inside`;
  if (source.rank < target.rank) return undefined;
  if (EXTRA.some(([a, b]) => a === from && b === to)) return undefined;
  if (source.rank > target.rank) {
    return `arrows point down: ${source.row.name} stands below ${target.row.name}`;
  }
  if (source.row.siblings === "ordered") {
    return source.order < target.order
      ? undefined
      : `within ${source.row.name}, ${to} may import ${from}, not the reverse`;
  }
  return `rooms of the row ${source.row.name} do not import each other`;
}

/** The room of a file: `src/store/wal.ts` is in `store`, `src/main.ts` in `main`, `mod.ts` in `mod`. */
export function roomOf(path: string): string | undefined {
  const parts = path.split("/");
  const first = parts[0] ?? "";
  if (parts.length === 1) return first.replace(/\.ts$/, "");
  if (first !== "src") return undefined;
  return (parts[1] ?? "").replace(/\.ts$/, "");
}
