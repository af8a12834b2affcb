/** One metric. Every label has few values, known beforehand or bounded: never a session, a name of a hook, or text. */
export interface MetricRow {
  kind: "counter" | "gauge" | "histogram";
  says: string;
  labels: Readonly<Record<string, string>>;
  /** Upper bounds in seconds, of a histogram. */
  buckets?: readonly number[];
}

const POINT = "the point, `composed` for all of composed events";
const REASON = "why";

const RUN_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const MODEL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Every metric of `/metrics`. docs/operation.md is made from it. */
export const METRICS = {
  reyn_events_total: {
    kind: "counter",
    says: "audit events, of every type: what has no metric of its own is here",
    labels: { type: "type of the event" },
  },
  reyn_turns_total: {
    kind: "counter",
    says: "turns that came to their end",
    labels: { status: "ok, error, interrupted" },
  },
  reyn_model_step_seconds: {
    kind: "histogram",
    says: "how long the model took for one step",
    labels: { outcome: "ok, error, interrupted" },
    buckets: MODEL_SECONDS,
  },
  reyn_hook_verdicts_total: {
    kind: "counter",
    says: "hooks at points that fired, by what became of them",
    labels: {
      point: POINT,
      verdict:
        "`matcher` (did not match), disabled, pushed, withheld, ran, refused, failed, queued, overlap, rate_limited",
    },
  },
  reyn_hook_runs_total: {
    kind: "counter",
    says: "commands of hooks that ran, or could not be started",
    labels: {
      point: POINT,
      scheme: "exec, exec_capture",
      outcome:
        "ok, exit, signal, timeout, launch_failed, output_limit, bad_directive, and of plugins their own",
    },
  },
  reyn_hook_run_seconds: {
    kind: "histogram",
    says: "how long they ran",
    labels: { scheme: "exec, exec_capture" },
    buckets: RUN_SECONDS,
  },
  reyn_hook_pushes_total: {
    kind: "counter",
    says: "pushes of hooks into inboxes",
    labels: { point: POINT, wake: "true, false" },
  },
  reyn_hook_failures_total: {
    kind: "counter",
    says: "hooks that failed; their point went on",
    labels: { point: POINT, code: "code of the error" },
  },
  reyn_hook_skipped_total: {
    kind: "counter",
    says: "hooks that matched and were not run (of those over their rate, the first of an episode)",
    labels: { point: POINT, reason: REASON },
  },
  reyn_hook_refused_total: {
    kind: "counter",
    says: "commands of hooks that were not run",
    labels: { reason: "consent_refused, sandbox_unconfirmed, untrusted …" },
  },
  reyn_sandbox_denials_total: {
    kind: "counter",
    says: "commands that failed by what the sandbox denies",
    labels: { class: "fork_denied, network_denied, write_denied, read_denied" },
  },
  reyn_sandbox_state: {
    kind: "gauge",
    says: "1 for what the last command of a hook found, 0 for the others",
    labels: { state: "not_probed, confirmed, unconfirmed" },
  },
  reyn_inbox_refused_total: {
    kind: "counter",
    says: "messages that were not taken into an inbox",
    labels: { kind: "kind of the message", reason: REASON },
  },
  reyn_inbox_dropped_total: {
    kind: "counter",
    says: "messages that were dropped from an inbox",
    labels: { reason: REASON },
  },
  reyn_inbox_messages: {
    kind: "gauge",
    says: "messages that wait, over all sessions",
    labels: { wake: "true, false" },
  },
  reyn_inbox_bytes: { kind: "gauge", says: "bytes of their bodies", labels: {} },
  reyn_inbox_oldest_seconds: {
    kind: "gauge",
    says: "age of the oldest waking message that waits; 0 where none does",
    labels: {},
  },
  reyn_safety_limits_total: {
    kind: "counter",
    says: "safety limits that were reached: a valve that closed is `hook_driven_turns`",
    labels: { kind: "which limit", action: "what was done" },
  },
  reyn_questions_open: {
    kind: "gauge",
    says: "questions to people that nobody has answered",
    labels: { kind: "consent, valve" },
  },
  reyn_questions_oldest_seconds: {
    kind: "gauge",
    says: "age of the oldest of them; 0 where there is none",
    labels: {},
  },
  reyn_sessions: {
    kind: "gauge",
    says: "sessions in the store, loaded, and taking turns",
    labels: { state: "stored, loaded, active" },
  },
  reyn_sessions_halted_total: {
    kind: "counter",
    says: "sessions that take no new turns",
    labels: {
      reason: "hook_failed (`on_error: suspend`), fenced (another owner has taken the session), other",
    },
  },
  reyn_sessions_interrupted_total: {
    kind: "counter",
    says: "sessions that were found to have ended without an end",
    labels: {},
  },
  reyn_sessions_failed_total: {
    kind: "counter",
    says: "times that a session could not be loaded, run or ended; it is tried again",
    labels: { code: "code of the error" },
  },
  reyn_questions_closed_total: {
    kind: "counter",
    says: "questions to people that were closed without an answer, which refuses what they asked about",
    labels: { kind: "consent, valve", reason: "expired, withdrawn, nobody" },
  },
  reyn_http_refused_total: {
    kind: "counter",
    says: "requests that were refused; more than the first of a kind are added after ten seconds",
    labels: { status: "status that was answered", code: "code of the error" },
  },
  reyn_policies_not_applied_total: {
    kind: "counter",
    says: "times that `sandbox.policy` was found to say what does not reach hooks",
    labels: { field: "key of the policy" },
  },
  reyn_project_untrusted_total: {
    kind: "counter",
    says: "times that something was not started, because project files set what the operator does not trust",
    labels: {},
  },
  reyn_layers_skipped_total: {
    kind: "counter",
    says: "layers that could not be used and were left out",
    labels: { layer: "runtime, agent, session" },
  },
  reyn_composer_dropped_total: {
    kind: "counter",
    says: "what composers dropped, by count where the event tells one",
    labels: { reason: REASON },
  },
  reyn_composer_problems_total: {
    kind: "counter",
    says: "what else kept a composed event from being on time or at all",
    labels: {
      event:
        "composer_pending_set_aside, composer_pending_failed, composer_deadline_lost, composer_held_back",
    },
  },
  reyn_bus_events_total: {
    kind: "counter",
    says: "events that came from outside, over HTTP or the control socket",
    labels: { outcome: "heard, unheard (no composer waits for such), duplicate" },
  },
  reyn_bus_dropped_total: {
    kind: "counter",
    says: "events that a subscriber of a bus did not get",
    labels: {},
  },
  reyn_decision_failures_total: {
    kind: "counter",
    says: "decision hooks that failed, refused, or could not be loaded",
    labels: { event: "hooks.failed, hooks.refused, hooks.load_failed" },
  },
  reyn_plugin_problems_total: {
    kind: "counter",
    says: "plugins that were denied something or switched off",
    labels: { event: "plugin_denied, plugin_disabled" },
  },
  reyn_store_commit_seconds: {
    kind: "histogram",
    says: "from a commit or a message handed to the store to its being on disk",
    labels: { call: "commit, put", status: "ok, stored, duplicate, full, fenced" },
    buckets: COMMIT_SECONDS,
  },
  reyn_store_errors_total: {
    kind: "counter",
    says: "calls of the store that failed",
    labels: { code: "E_STATE_FULL, E_STATE_UNWRITABLE, E_STATE_IO, E_STATE_CORRUPT" },
  },
  reyn_store_notices_total: {
    kind: "counter",
    says: "what happened to the store besides",
    labels: { kind: "set_aside, started_empty, migrated, failing, reopened" },
  },
  reyn_audit_lost_total: {
    kind: "counter",
    says: "audit events that are missing in the log",
    labels: { reason: "queue_full, too_large, data_failed" },
  },
  reyn_audit_problems_total: {
    kind: "counter",
    says: "times when writing the log began to fail, or events were lost at the end",
    labels: { code: "E_AUDIT_WRITE, E_AUDIT_LOST" },
  },
  reyn_start_time_seconds: { kind: "gauge", says: "when the server started, as Unix time", labels: {} },
  reyn_resident_memory_bytes: { kind: "gauge", says: "memory of the process", labels: {} },
  reyn_cpu_seconds_total: { kind: "counter", says: "processor time of the process", labels: {} },
  reyn_open_descriptors: { kind: "gauge", says: "open file descriptors, on Linux", labels: {} },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;
export type LabelsOf<M extends MetricName> = { [L in keyof (typeof METRICS)[M]["labels"]]: string };
