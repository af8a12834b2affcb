import type { ShownEvent } from "./timeline.ts";

/**
 * An event as a server tells it, in the form in which the timeline shows it; undefined for what is none. The inverse of
 * `publicEvent`.
 */
export function shownEvent(told: unknown): ShownEvent | undefined {
  if (typeof told !== "object" || told === null) return undefined;
  const event = told as Record<string, unknown>;
  switch (event["type"]) {
    case "push":
      return { type: "push", push: { hook: String(event["hook"]), wake: event["wake"] === true } };
    case "hook_failed":
    case "hook_refused":
    case "rate_limited":
      return { ...event, hook: { label: String(event["hook"]) } } as ShownEvent;
    case "turn_started":
      return { ...event, hookDrivenTurns: Number(event["hook_driven_turns"]) } as ShownEvent;
    default:
      return event as ShownEvent;
  }
}
