/** Verbs whose part of reyn does not exist yet: refused by name, not as unknown. */
export const VERBS_NOT_YET: readonly { verb: string; group?: "hooks" | "sessions"; part: string }[] = [
  { verb: "chat", part: "interactive sessions" },
  { verb: "tools", part: "tools and permissions" },
  { verb: "pipelines", part: "pipelines" },
  { verb: "cron", part: "schedules" },
  { verb: "webhook", part: "webhooks" },
  { verb: "mcp", part: "MCP" },
  { verb: "items", part: "delivery" },
  { verb: "ask", part: "delivery" },
  { verb: "reply", part: "delivery" },
  { verb: "mcp-serve", part: "MCP" },
  { verb: "reload", part: "the server" },
  { verb: "completion", part: "operation" },
];
