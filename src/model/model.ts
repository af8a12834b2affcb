/**
 * The model port: one call is one model step. The run loop drives steps and journals each; a driver keeps no
 * conversation of its own.
 */
export interface ModelMessage {
  role: "system" | "user" | "assistant" | "tool";
  text: string;
  /** Name of the hook that pushed the message, where one did; `text` then begins with `[hook:NAME] `. */
  hook?: string;
  toolCalls?: readonly ToolCall[];
  /** In a tool message: the call that it answers. */
  toolCallId?: string;
}

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface ModelRequest {
  session: string;
  agent: string;
  turn: number;
  /** 1 for the first step of a turn. */
  step: number;
  /** System instructions of the agent, where it has any. */
  instructions?: string;
  messages: readonly ModelMessage[];
}

export type ModelDelta = { type: "text"; text: string } | { type: "tool_call"; call: ToolCall };

export interface Model {
  readonly provider: string;
  /** Streams one step. Throws a ReynError E_MODEL_*; when the signal aborts, stops promptly and throws the reason. */
  step(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta>;
  /** Ends whatever the driver still runs; with `now` at once, without the grace that it otherwise has. */
  close(options?: { now?: boolean }): Promise<void>;
}
