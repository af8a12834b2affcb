/** One figure of the bench table. */
export interface BenchRow {
  name: string;
  /** Of value, floor and limit: `µs`, `ms`, `turns/s`, … */
  unit: string;
  value: number;
  /** What the same work costs at the least, measured in the same run. */
  floor?: number;
  /** What the floor is: `raw commit`. */
  floorName?: string;
  /** What the figure is meant to keep: at most, or at least, this value, or at most, or at least, so many times its floor. */
  goal?: { atMost: number } | { atLeast: number } | { timesFloor: number } | { atLeastTimesFloor: number };
}

export function ratioOf(row: BenchRow): number | undefined {
  return row.floor ? row.value / row.floor : undefined;
}

/** Whether a figure keeps its goal; undefined when it has none. */
export function keepsGoal(row: BenchRow): boolean | undefined {
  const { goal } = row;
  if (!goal) return undefined;
  if ("atMost" in goal) return row.value <= goal.atMost;
  if ("atLeast" in goal) return row.value >= goal.atLeast;
  const ratio = ratioOf(row);
  if (ratio === undefined) return undefined;
  return "timesFloor" in goal ? ratio <= goal.timesFloor : ratio >= goal.atLeastTimesFloor;
}

function goalText({ goal }: BenchRow): string {
  if (!goal) return "";
  if ("atMost" in goal) return `<= ${number(goal.atMost)}`;
  if ("atLeast" in goal) return `>= ${number(goal.atLeast)}`;
  if ("timesFloor" in goal) return `<= ${number(goal.timesFloor)}x`;
  return `>= ${number(goal.atLeastTimesFloor)}x`;
}

function number(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}

/** The rows as a table of plain text. */
export function benchTable(rows: readonly BenchRow[]): string {
  const head = ["", "value", "unit", "floor", "ratio", "goal", ""];
  const body = rows.map((row) => {
    const ratio = ratioOf(row);
    const kept = keepsGoal(row);
    return [
      row.name,
      number(row.value),
      row.unit,
      row.floor === undefined ? "" : `${number(row.floor)}${row.floorName ? ` (${row.floorName})` : ""}`,
      ratio === undefined ? "" : `${number(ratio)}x`,
      goalText(row),
      kept === undefined ? "" : kept ? "kept" : "MISSED",
    ];
  });
  const all = [head, ...body];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  return all.map((cells) =>
    cells.map((cell, column) =>
      column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
    )
      .join("  ").trimEnd()
  ).join("\n");
}
