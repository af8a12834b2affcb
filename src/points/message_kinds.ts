/** Kinds of messages that trigger turns. Only `user` is a person. */
export const MESSAGE_KINDS = [
  "user",
  "external_message",
  "cron",
  "hook",
  "pipeline_result",
  "agent_request",
  "agent_response",
  "agent_step",
] as const;

export type MessageKind = (typeof MESSAGE_KINDS)[number];
