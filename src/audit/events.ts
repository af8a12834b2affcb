/**
 * Every audit event (P6) with the group it is shown in and its data fields. Never message text, never payload
 * content. Names and fields are added to, never renamed.
 */
export interface AuditData {
  chat_started: { agent_name: string };
  chat_stopped: { agent_name: string };
  session_started: { agent_name: string; resumed: boolean };
  session_completed: { agent_name: string };
  session_interrupted: { agent_name: string; turn: number | null };
  turn_started: {
    kind: string;
    chain_id: string | null;
    seq: number;
    hook_driven_turns: number;
    resumed: boolean;
  };
  turn_completed: {
    chain_id: string | null;
    seq: number;
    status: "ok" | "error" | "interrupted";
    error?: string;
  };
  turn_settled: { kind: string; chain_id: string | null; seq: number };
  model_step: { turn: number; step: number; duration_ms: number; outcome: "ok" | "error" | "interrupted" };
  hooks_evaluated: { point: string; verdicts: Record<string, string> };
  hook_push_fired: {
    hook_name: string | null;
    layer: string;
    point: string;
    wake: boolean;
    target_session: string;
  };
  hook_failed: { hook: string; point: string; code: string; error: string };
  hook_skipped: { hook: string; point: string; reason: string };
  hook_shell_executed: {
    hook: string;
    point?: string;
    mode: "exec" | "exec_capture";
    command: string;
    returncode: number;
    denial_class: string | null;
    attribution: string | null;
    outcome: string;
    duration_ms: number;
    consent?: string;
  };
  plugin_denied: { hook: string; axis: "network" | "read" | "write"; target: string; reason: string };
  plugin_disabled: { hook: string; faults: number; outcome: string };
  plugin_emitted: { hook: string; name: string; values: Record<string, number | boolean> };
  hook_exec_refused: {
    hook: string;
    point?: string;
    mode: "exec" | "exec_capture";
    command: string;
    reason: string;
    detail?: string;
  };
  intervention_asked: { question: string; kind: string; surfaces: string[] };
  intervention_answered: { question: string; kind: string; answer: string; by: string };
  intervention_closed: { question: string; kind: string; reason: string };
  sandbox_policy_not_applied: {
    hook: string;
    policy_field: string;
    hook_key: string;
    configured: string;
    effective: string;
  };
  composer_fired: { composer: string; correlation_key: string; event_id: string };
  composer_dropped: { composer: string; correlation_key: string; reason: string; count?: number };
  composer_pending_set_aside: { path: string; reason: string };
  composer_pending_failed: { path: string; reason: string };
  composer_deadline_lost: { composer: string; correlation_key: string; armed_at: number; reason: string };
  composer_held_back: { composer: string; correlation_key: string; waited_ms: number };
  bus_event_published: {
    event_id: string;
    kind: string;
    by: string;
    outcome: "heard" | "unheard" | "duplicate";
  };
  bus_subscriber_dropped: { subscriber_id: string; drop_count: number };
  "hooks.loaded": { hooks: string[]; count: number; config: string };
  "hooks.load_failed": { error: string; strict: boolean };
  "hooks.decided": DecisionRecord & { changed: string[]; overruled?: string[]; mode: "enforce" | "observe" };
  "hooks.failed": DecisionRecord & { error: string; required: boolean; mode: "enforce" | "observe" };
  "hooks.refused": DecisionRecord & { reason: string | null };
  inbox_refused: { kind: string; reason: string; hook?: string };
  inbox_dropped: { ids: string[]; reason: string };
  safety_limit_checkpoint: {
    kind: string;
    allow_continue: boolean;
    reason: string;
    extension: number;
    agent_id: string;
    action: string;
  };
  session_halted: { reason: string };
  layer_skipped: { layer: string; file: string; findings: number };
  project_untrusted: { keys: string[]; more: number };
  project_trusted: { keys: string[]; more: number };
  project_trust_revoked: { folder: string };
  audit_dropped: {
    count: number;
    reason: "queue_full" | "too_large" | "data_failed";
    /** Type of the event, where it is one. */
    event?: string;
    /** Name of what was thrown. */
    error?: string;
  };
  session_failed: { code: string; error: string };
  server_started: { host: string; port: number; sessions: number };
  server_stopped: { cut: string[]; left: string[] };
  http_refused: { status: number; code: string; count: number };
  reload_requested: { outcome: string };
  store_set_aside: { path: string; reason: string };
  gc_removed: { events_files: number; ids: number; records: number; set_aside_files: number; bytes: number };
}

/** What every record of a decision hook says. */
interface DecisionRecord {
  point: string;
  hook: string;
  work_item: string | null;
  decision_id: string;
  duration_ms: number;
}

export type AuditType = keyof AuditData;

/** Compiles only when every type of AuditData is here. */
export const AUDIT_GROUPS: Record<AuditType, "session" | "turn" | "hook" | "tool" | "safety" | "runtime"> = {
  chat_started: "session",
  chat_stopped: "session",
  session_started: "session",
  session_completed: "session",
  session_interrupted: "session",
  turn_started: "turn",
  turn_completed: "turn",
  turn_settled: "turn",
  model_step: "turn",
  hooks_evaluated: "hook",
  hook_push_fired: "hook",
  hook_failed: "hook",
  hook_skipped: "hook",
  hook_shell_executed: "tool",
  plugin_denied: "tool",
  plugin_disabled: "tool",
  plugin_emitted: "tool",
  hook_exec_refused: "tool",
  intervention_asked: "safety",
  intervention_answered: "safety",
  intervention_closed: "safety",
  sandbox_policy_not_applied: "tool",
  composer_fired: "hook",
  composer_dropped: "hook",
  composer_pending_set_aside: "hook",
  composer_pending_failed: "hook",
  composer_deadline_lost: "hook",
  composer_held_back: "hook",
  bus_event_published: "hook",
  bus_subscriber_dropped: "hook",
  "hooks.loaded": "runtime",
  "hooks.load_failed": "runtime",
  "hooks.decided": "hook",
  "hooks.failed": "hook",
  "hooks.refused": "hook",
  inbox_refused: "session",
  inbox_dropped: "session",
  safety_limit_checkpoint: "safety",
  session_halted: "session",
  layer_skipped: "runtime",
  project_untrusted: "runtime",
  project_trusted: "runtime",
  project_trust_revoked: "runtime",
  audit_dropped: "runtime",
  session_failed: "session",
  server_started: "runtime",
  server_stopped: "runtime",
  http_refused: "runtime",
  reload_requested: "runtime",
  store_set_aside: "runtime",
  gc_removed: "runtime",
};
