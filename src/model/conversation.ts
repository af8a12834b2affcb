import type { ModelMessage } from "./model.ts";

/** The role in which `[hook:NAME]` messages reach a provider. */
export type HookRole = "user" | "system";

/**
 * A session's history as a provider is to see it: hook messages in `hookRole`, in their place. Nothing is reordered,
 * joined or left out.
 */
export function forProvider(messages: readonly ModelMessage[], hookRole: HookRole): ModelMessage[] {
  return messages.map((message) => message.hook === undefined ? message : { ...message, role: hookRole });
}

/** The text that a step answers: of the last message that is not the assistant's own. Empty when there is none. */
export function lastHeard(messages: readonly ModelMessage[]): string {
  return messages.findLast((message) => message.role !== "assistant")?.text ?? "";
}
