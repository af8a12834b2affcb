import type { ModelMessage, ModelRequest } from "./model.ts";

/**
 * What a command reads: one JSON object on one line. Characters outside ASCII stay as they are, halves of surrogate
 * pairs are escaped, so the line is UTF-8 whatever the conversation holds.
 */
export function requestLine(request: ModelRequest): string {
  const { session, agent, turn, step, instructions, messages } = request;
  return JSON.stringify({ session, agent, turn, step, instructions, messages: messages.map(message) }) + "\n";
}

function message({ role, text, hook, toolCalls, toolCallId }: ModelMessage): Record<string, unknown> {
  return { role, text, hook, tool_calls: toolCalls, tool_call_id: toolCallId };
}
