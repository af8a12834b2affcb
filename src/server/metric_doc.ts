import { type MetricName, type MetricRow, METRICS } from "./metric_table.ts";

/** Rows of the Markdown table of docs/operation.md: every metric in the order of its table, one row a label. */
export function metricDocRows(): string[][] {
  const rows = [["metric", "kind", "says", "label", "values"]];
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { kind, says, labels }: MetricRow = METRICS[name];
    const head = [`\`${name}\``, kind, says];
    const list = Object.entries(labels);
    if (list.length === 0) rows.push([...head, "", ""]);
    list.forEach(([label, values], index) =>
      rows.push([...(index === 0 ? head : ["", "", ""]), `\`${label}\``, values])
    );
  }
  return rows;
}
