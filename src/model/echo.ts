import { lastHeard } from "./conversation.ts";
import type { Model, ModelRequest } from "./model.ts";

/** Answers every step with `echo: <message>`, the last message that is not the assistant's own. */
export function echoModel(): Model {
  return {
    provider: "echo",
    async *step(request, signal) {
      signal.throwIfAborted();
      yield { type: "text", text: echoOf(request) };
    },
    async close() {},
  };
}

export function echoOf(request: ModelRequest): string {
  return `echo: ${lastHeard(request.messages)}`;
}
