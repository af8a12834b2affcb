import { z } from "zod";
import type { DeniedCounts } from "../result.ts";

const flag = z.literal([0, 1]).transform((value) => value === 1);
const count = z.int().min(0);

const started = z.strictObject({
  v: z.literal(1),
  ok: z.undefined().optional(),
  started: z.int().positive(),
});

const refused = z.strictObject({
  v: z.literal(1),
  ok: z.literal(false),
  stage: z.string(),
  errno: z.int(),
  path: z.string().optional(),
});

const ended = z.strictObject({
  v: z.literal(1),
  ok: z.literal(true),
  exit: count.max(255).optional(),
  signal: count.max(127),
  timed_out: flag,
  terminated: flag,
  left_killed: count,
  abi: count,
  rules: count,
  /** The rule set was taken from the keeper; `rules` is 0 then. */
  kept: flag,
  counted: flag,
  setup_us: count,
  forks: count,
  denied: z.strictObject({
    fork: count,
    fork_budget: count,
    inet: count,
    unix: count,
    socket: count,
    metadata: count,
    listing: count,
    other: count,
  }),
});

const said = z.discriminatedUnion("ok", [started, refused, ended]);

export type HelperEnd = z.infer<typeof ended>;
export type HelperRefusal = z.infer<typeof refused>;

/** What the helper said, as far as it got. */
export interface HelperReport {
  /** The process of the confined program, once it runs. */
  started?: number;
  refusal?: HelperRefusal;
  end?: HelperEnd;
}

/** Reads the report of a run. Null when there is a line that the helper does not write: whoever wrote it is not to be believed. */
export function readReport(text: string): HelperReport | null {
  const report: HelperReport = {};
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const value = said.safeParse(parse(line));
    if (!value.success) return null;
    const { data } = value;
    if ("started" in data && !report.started) report.started = data.started;
    else if ("stage" in data && !report.started && !report.refusal) report.refusal = data;
    else if ("denied" in data && report.started && !report.end) report.end = data;
    else return null;
  }
  return report;
}

export function deniedCounts(end: HelperEnd): DeniedCounts {
  const { fork_budget: forkBudget, ...rest } = end.denied;
  return { ...rest, forkBudget };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
