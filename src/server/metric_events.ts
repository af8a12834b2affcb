import type { MetricName } from "./metric_table.ts";
import { pointLabel, wordLabel } from "./metric_labels.ts";

type Data = Readonly<Record<string, unknown>>;

/** What an audit event adds to a metric: counts, or seconds of a histogram. */
export interface Sample {
  metric: MetricName;
  labels: Record<string, string>;
  value: number;
}

const one = (metric: MetricName, labels: Record<string, string>): Sample => ({ metric, labels, value: 1 });

/** By type of event. Types without a row are counted by `reyn_events_total` alone. */
const OF_EVENT: Readonly<Record<string, (data: Data) => Sample[]>> = {
  turn_completed: ({ status }) => [one("reyn_turns_total", { status: wordLabel(status) })],
  model_step: ({ outcome, duration_ms }) => [
    seconds("reyn_model_step_seconds", { outcome: wordLabel(outcome) }, duration_ms),
  ],
  hooks_evaluated: ({ point, verdicts }) => {
    const counts = new Map<string, number>();
    for (const verdict of Object.values(verdicts ?? {})) {
      const word = wordLabel(String(verdict).replace(/^matcher:.*/s, "matcher"));
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    return [...counts].map(([verdict, value]) => ({
      metric: "reyn_hook_verdicts_total",
      labels: { point: pointLabel(point), verdict },
      value,
    }));
  },
  hook_push_fired: ({ point, wake }) => [
    one("reyn_hook_pushes_total", { point: pointLabel(point), wake: String(wake === true) }),
  ],
  hook_failed: ({ point, code }) => [
    one("reyn_hook_failures_total", { point: pointLabel(point), code: wordLabel(code) }),
  ],
  hook_skipped: ({ point, reason }) => [
    one("reyn_hook_skipped_total", { point: pointLabel(point), reason: wordLabel(reason) }),
  ],
  hook_shell_executed: ({ point, mode, outcome, duration_ms, denial_class }) => [
    one("reyn_hook_runs_total", {
      point: pointLabel(point),
      scheme: wordLabel(mode),
      outcome: wordLabel(outcome),
    }),
    seconds("reyn_hook_run_seconds", { scheme: wordLabel(mode) }, duration_ms),
    ...(typeof denial_class === "string"
      ? [one("reyn_sandbox_denials_total", { class: wordLabel(denial_class) })]
      : []),
  ],
  hook_exec_refused: ({ reason }) => [one("reyn_hook_refused_total", { reason: wordLabel(reason) })],
  inbox_refused: ({ kind, reason }) => [
    one("reyn_inbox_refused_total", { kind: wordLabel(kind), reason: wordLabel(reason) }),
  ],
  inbox_dropped: ({ ids, reason }) => [
    {
      metric: "reyn_inbox_dropped_total",
      labels: { reason: wordLabel(reason) },
      value: Array.isArray(ids) ? ids.length : 1,
    },
  ],
  safety_limit_checkpoint: ({ kind, action }) => [
    one("reyn_safety_limits_total", { kind: wordLabel(kind), action: wordLabel(action) }),
  ],
  session_halted: ({ reason }) => [one("reyn_sessions_halted_total", { reason: haltReason(reason) })],
  session_interrupted: () => [one("reyn_sessions_interrupted_total", {})],
  session_failed: ({ code }) => [one("reyn_sessions_failed_total", { code: wordLabel(code) })],
  intervention_closed: ({ kind, reason }) => [
    one("reyn_questions_closed_total", { kind: wordLabel(kind), reason: wordLabel(reason) }),
  ],
  http_refused: ({ status, code, count }) => [
    {
      metric: "reyn_http_refused_total",
      labels: { status: String(status), code: wordLabel(code) },
      value: typeof count === "number" ? count : 1,
    },
  ],
  sandbox_policy_not_applied: ({ policy_field }) => [
    one("reyn_policies_not_applied_total", { field: wordLabel(policy_field) }),
  ],
  project_untrusted: () => [one("reyn_project_untrusted_total", {})],
  layer_skipped: ({ layer }) => [one("reyn_layers_skipped_total", { layer: wordLabel(layer) })],
  composer_dropped: ({ reason, count }) => [
    {
      metric: "reyn_composer_dropped_total",
      labels: { reason: wordLabel(reason) },
      value: typeof count === "number" ? count : 1,
    },
  ],
  bus_event_published: ({ outcome }) => [one("reyn_bus_events_total", { outcome: wordLabel(outcome) })],
  bus_subscriber_dropped: ({ drop_count }) => [
    { metric: "reyn_bus_dropped_total", labels: {}, value: typeof drop_count === "number" ? drop_count : 1 },
  ],
  ...byType("reyn_composer_problems_total", [
    "composer_pending_set_aside",
    "composer_pending_failed",
    "composer_deadline_lost",
    "composer_held_back",
  ]),
  ...byType("reyn_decision_failures_total", ["hooks.failed", "hooks.refused", "hooks.load_failed"]),
  ...byType("reyn_plugin_problems_total", ["plugin_denied", "plugin_disabled"]),
};

/** What an event adds, besides its count by type. */
export function samplesOf(type: string, data: unknown): Sample[] {
  const samples = Object.hasOwn(OF_EVENT, type) ? OF_EVENT[type] : undefined;
  return samples && typeof data === "object" && data !== null ? samples(data as Data) : [];
}

function seconds(metric: MetricName, labels: Record<string, string>, ms: unknown): Sample {
  return { metric, labels, value: typeof ms === "number" ? ms / 1000 : 0 };
}

function byType(metric: MetricName, types: readonly string[]): Record<string, () => Sample[]> {
  return Object.fromEntries(types.map((type) => [type, () => [one(metric, { event: type })]]));
}

/** The text of the event names the hook. */
function haltReason(reason: unknown): string {
  if (typeof reason !== "string") return "other";
  if (reason.startsWith("hook ")) return "hook_failed";
  return reason.startsWith("another owner") ? "fenced" : "other";
}
