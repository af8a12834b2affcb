import type { RunEvent } from "./run_event.ts";

/** An event as those outside the process are told of it, with hooks by name; null for the pieces of a reply. */
export function publicEvent(event: RunEvent): { type: string; [field: string]: unknown } | null {
  switch (event.type) {
    case "reply_delta":
      return null;
    case "push": {
      const { hook, text, wake, id, target } = event.push;
      return { type: "push", id, hook, wake, text, ...(target === null ? {} : { target }) };
    }
    case "hook_failed":
      return { type: "hook_failed", hook: event.hook.label, code: event.code, error: event.error };
    case "hook_refused":
      return { type: "hook_refused", hook: event.hook.label, reason: event.reason, error: event.error };
    case "composer": {
      const { what } = event;
      const told = { type: `composer_${what.type}`, composer: what.composer, correlation_key: what.key };
      return what.type === "fired"
        ? { ...told, event_id: what.event.id, kind: what.event.kind }
        : { ...told, reason: what.reason };
    }
    case "rate_limited":
      return { type: "rate_limited", hook: event.hook.label };
    case "turn_started": {
      const { hookDrivenTurns, ...rest } = event;
      return { ...rest, hook_driven_turns: hookDrivenTurns };
    }
    default:
      return { ...event };
  }
}
