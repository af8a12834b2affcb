import type { AuditData, AuditType } from "./events.ts";

/** What one event says, and what each field of its data holds. docs/audit.md is made from it. */
export interface EventDoc<T extends AuditType> {
  says: string;
  fields: { [F in keyof Required<AuditData[T]>]: string };
}

const AGENT = "name of the agent";
const SEQ = "number of the turn in its session";
const CHAIN = "id that links what followed from one message; null where nothing does";
const RESUMED = "whether it goes on after a crash or an earlier run";
const POINT = "the point that fired";
const QUESTION = "id of the question";
const KIND = "consent, valve";
const HOOK = "name of the hook, or `<layer>#<index>`";
const COMPOSER = "name of the composer";
const KEY = "value of the field that it is keyed on; `__default__` without one";

const KEYS = "file and key of each, at most 50";
const MORE = "how many more there are";
const MODE = "enforce; or observe: asked, but nothing of the answer applied";
const DECISION = {
  point: "the decision point",
  hook: "name of the decision hook",
  work_item: "ref of the work item; null where it is not known",
  decision_id: "id that all records of one decision share; a remote executor gets it as X-Request-Id",
  duration_ms: "how long the hook took",
};

/** Compiles only when every type and every field of AuditData is here. */
export const AUDIT_FIELDS: { [T in AuditType]: EventDoc<T> } = {
  chat_started: { says: "a front door attached to the session", fields: { agent_name: AGENT } },
  chat_stopped: { says: "the front door left it", fields: { agent_name: AGENT } },
  session_started: {
    says: "a front door opened the session",
    fields: { agent_name: AGENT, resumed: RESUMED },
  },
  session_completed: { says: "the session ended in an orderly way", fields: { agent_name: AGENT } },
  session_interrupted: {
    says: "the session was found to have ended without an end",
    fields: { agent_name: AGENT, turn: "number of the turn that was cut off; null between turns" },
  },
  turn_started: {
    says: "a turn began",
    fields: {
      kind: "what started it: user, hook, external_message …",
      chain_id: CHAIN,
      seq: SEQ,
      hook_driven_turns: "turns triggered from inside since the last human one, this one included",
      resumed: RESUMED,
    },
  },
  turn_completed: {
    says: "the turn's model steps are over",
    fields: {
      chain_id: CHAIN,
      seq: SEQ,
      status: "ok, error or interrupted",
      error: "code of the failure, only with status error",
    },
  },
  turn_settled: {
    says: "the turn and its hooks are over",
    fields: { kind: "what started it", chain_id: CHAIN, seq: SEQ },
  },
  model_step: {
    says: "the model was asked once",
    fields: {
      turn: SEQ,
      step: "number of the step in its turn",
      duration_ms: "milliseconds",
      outcome: "ok, error or interrupted",
    },
  },
  hooks_evaluated: {
    says: "a point that has hooks fired",
    fields: { point: POINT, verdicts: "for each hook, by name: what became of it" },
  },
  hook_push_fired: {
    says: "a hook's push is about to be placed in an inbox",
    fields: {
      hook_name: "name of the hook; null if it has none",
      layer: "the layer that declares it",
      point: POINT,
      wake: "whether the push starts a turn",
      target_session: "the session whose inbox it is",
    },
  },
  hook_failed: {
    says: "a hook failed; the point went on",
    fields: { hook: HOOK, point: POINT, code: "code of the failure", error: "its reason" },
  },
  hook_skipped: {
    says: "a hook that matched was not run",
    fields: { hook: HOOK, point: POINT, reason: "why" },
  },
  hook_shell_executed: {
    says: "a hook's command ran, or could not be started",
    fields: {
      hook: HOOK,
      point: POINT,
      mode: "exec, or exec_capture",
      command: "its argv, quoted as for a shell, with secrets masked",
      returncode:
        "exit code, or what a plugin's export returned; minus the number of the signal that ended it; -1 when reyn ended it or it never began",
      denial_class:
        "fork_denied, network_denied, write_denied or read_denied when the sandbox made it fail; else null",
      attribution:
        "counted by the helper or the plugin's host, or heuristic: stderr names a path that is denied; else null",
      outcome:
        "ok, exit, signal, timeout, launch_failed, output_limit, bad_directive; of a plugin also trap, " +
        "input_limit, memory_limit, log_limit, call_limit",
      duration_ms: "how long it ran",
      consent: "who said yes: allowlist, environment, once, always; absent when it could not be started",
    },
  },
  plugin_denied: {
    says: "a plugin tried what its hook does not grant, and was refused",
    fields: {
      hook: HOOK,
      axis: "network, read or write",
      target: "the host, or the path as the plugin named it; cut at 200 characters",
      reason: "why",
    },
  },
  plugin_disabled: {
    says: "a plugin failed too often in a row, and is not called any more until reyn starts again",
    fields: { hook: HOOK, faults: "how often it failed", outcome: "how it ended the last time" },
  },
  plugin_emitted: {
    says: "a plugin said something for this log",
    fields: { hook: HOOK, name: "what it calls it", values: "numbers and booleans by name" },
  },
  hook_exec_refused: {
    says: "a hook's command was not run",
    fields: {
      hook: HOOK,
      point: POINT,
      mode: "exec, or exec_capture",
      command: "its argv, quoted as for a shell, with secrets masked",
      reason: "consent_refused, sandbox_unconfirmed, plugin_disabled",
      detail: "with consent_refused: not_approved, changed, answered_no, no_answer, not_asked, " +
        "changed_while_asked, unbindable",
    },
  },
  intervention_asked: {
    says: "a question was put to people",
    fields: { question: QUESTION, kind: KIND, surfaces: "names of the surfaces that show it" },
  },
  intervention_answered: {
    says: "somebody answered it",
    fields: { question: QUESTION, kind: KIND, answer: "which of its choices", by: "the surface" },
  },
  intervention_closed: {
    says: "it was closed without an answer, which refuses what it asked about",
    fields: { question: QUESTION, kind: KIND, reason: "expired, withdrawn, nobody" },
  },
  sandbox_policy_not_applied: {
    says: "the agent's policy says something that the hook's own keys leave open; it does not reach hooks",
    fields: {
      hook: HOOK,
      policy_field: "key of sandbox.policy",
      hook_key: "key of the hook that decides instead",
      configured: "what the policy says, as JSON",
      effective: "what holds for the hook, as JSON",
    },
  },
  composer_fired: {
    says: "a composer published its event",
    fields: { composer: COMPOSER, correlation_key: KEY, event_id: "id of the composed event" },
  },
  composer_dropped: {
    says: "something that a composer held pending will not become an event",
    fields: {
      composer: COMPOSER,
      correlation_key: KEY,
      reason:
        "ttl_evict: it stayed incomplete too long; capacity_drop_oldest, capacity_drop_newest, capacity_reject: " +
        "too many keys were pending; per_key_event_cap: too many events for one key; byte_cap: too many bytes were pending; out_of_order: a seq began anew; " +
        "cancelled: its `unless` came; rate_limited; chain_limit: one event led to too many composed ones; " +
        "session_closed: it was not durable and the run ended; composer_removed, composer_changed, record_damaged: it " +
        "was found in composer_pending.json and could not be taken up",
      count: "how many, where it is not one",
    },
  },
  composer_pending_set_aside: {
    says: "composer_pending.json was damaged: it was put aside and nothing of it is pending",
    fields: { path: "where it was put", reason: "what was wrong with it" },
  },
  composer_pending_failed: {
    says: "composer_pending.json could not be written; what is armed meanwhile may not survive a crash",
    fields: { path: "the file", reason: "why" },
  },
  composer_deadline_lost: {
    says: "an error: a deadline that was armed is no longer watched, and has not fired",
    fields: {
      composer: COMPOSER,
      correlation_key: KEY,
      armed_at: "when it was armed, in seconds since 1970",
      reason: "as in composer_dropped; no_room: found at start, where less may be pending than before",
    },
  },
  composer_held_back: {
    says: "a debounce without `max_wait` has not fired for ten times its ttl: events keep coming",
    fields: {
      composer: COMPOSER,
      correlation_key: KEY,
      waited_ms: "milliseconds since the first of the events",
    },
  },
  bus_event_published: {
    says: "an event came from outside, over HTTP or the control socket",
    fields: {
      event_id: "its id",
      kind: "its kind",
      by: "name of the token; `local` over the control socket",
      outcome:
        "heard; unheard: no composer of the session waits for such events; duplicate: it was there already",
    },
  },
  bus_subscriber_dropped: {
    says: "a subscriber of the bus was too slow, and its oldest unread events were dropped",
    fields: { subscriber_id: "which subscriber", drop_count: "how many since the last such record" },
  },
  "hooks.loaded": {
    says: "the decision hooks were loaded",
    fields: {
      hooks: "names of those that are enabled, in the order in which they are asked",
      count: "how many",
      config: "the file that declares them",
    },
  },
  "hooks.load_failed": {
    says: "the decision hooks could not be loaded",
    fields: {
      error: "why",
      strict: "true where nothing starts then; false where the command goes on without hooks",
    },
  },
  "hooks.decided": {
    says: "a decision hook changed something",
    fields: {
      ...DECISION,
      changed: "names of the decisions that it changed",
      overruled: "of these, the ones that did not count, because a required hook had refused before",
      mode: MODE,
    },
  },
  "hooks.failed": {
    says: "a decision hook gave no usable answer and was passed over",
    fields: {
      ...DECISION,
      error: "class and message",
      required: "whether it is required: then the step is refused, where it can be",
      mode: MODE,
    },
  },
  "hooks.refused": {
    says: "a step was refused by decision hooks",
    fields: {
      ...DECISION,
      duration_ms: "how long the whole chain took",
      reason: "the reason given; null for none",
    },
  },
  inbox_refused: {
    says: "a message was not taken into the inbox",
    fields: { kind: "kind of the message", reason: "why", hook: "the hook that pushed it, if one did" },
  },
  inbox_dropped: {
    says: "passive messages were dropped from the inbox to make room",
    fields: { ids: "ids of the messages", reason: "why" },
  },
  safety_limit_checkpoint: {
    says: "a safety limit was reached",
    fields: {
      kind: "which limit",
      allow_continue: "whether the session may go on by itself",
      reason: "why",
      extension: "how much was added to the limit; 0 for nothing",
      agent_id: AGENT,
      action: "what was done: the value of `safety.on_limit`, or what it came to",
    },
  },
  session_halted: {
    says: "the session takes no new turns",
    fields: { reason: "why" },
  },
  layer_skipped: {
    says: "a layer that could not be used was left out",
    fields: { layer: "which layer", file: "its file", findings: "how many things are wrong in it" },
  },
  project_untrusted: {
    says: "a start was refused because project files set what the operator does not trust",
    fields: { keys: KEYS, more: MORE },
  },
  project_trusted: {
    says: "the operator trusted what project files set",
    fields: { keys: KEYS, more: MORE },
  },
  project_trust_revoked: {
    says: "the operator took back the trust in the control folder",
    fields: { folder: "the folder, with symlinks followed" },
  },
  audit_dropped: {
    says: "events are missing here",
    fields: {
      count: "how many",
      reason: "queue_full: more waited than may wait; too_large: one above the longest line; " +
        "data_failed: one whose data could not be built",
      event: "type of the one that is missing; absent with queue_full",
      error: "name of the error, only with data_failed",
    },
  },
  session_failed: {
    says: "a session could not be loaded, run or ended; a server tries again, ever more rarely",
    fields: { code: "code of the failure", error: "its reason" },
  },
  server_started: {
    says: "a server listens",
    fields: {
      host: "the address",
      port: "the port",
      sessions: "how many sessions were started because something was left to do",
    },
  },
  server_stopped: {
    says: "a server stopped in order, or gave up waiting",
    fields: {
      cut: "sessions whose turn was interrupted",
      left: "sessions that were not ended in time",
    },
  },
  http_refused: {
    says: "requests were refused; the first of a kind at once, more of it together after ten seconds",
    fields: { status: "status that was answered", code: "code of the error", count: "how many" },
  },
  reload_requested: {
    says: "SIGHUP asked for the configuration to be read again",
    fields: { outcome: "what became of it" },
  },
  store_set_aside: {
    says: "a damaged store was set aside and a new one begun",
    fields: { path: "where it was put", reason: "what was wrong with it" },
  },
  gc_removed: {
    says: "what is no longer needed was removed (`reyn gc`)",
    fields: {
      events_files: "files of this log",
      ids: "ids of messages that were forgotten",
      records: "log records that a snapshot stands for",
      set_aside_files: "databases that were set aside, and copies of older versions",
      bytes: "of the files",
    },
  },
};
