import { field, type FieldSpec } from "./fields.ts";
import { MESSAGE_KINDS } from "./message_kinds.ts";

export type TurnStatus = "ok" | "error" | "interrupted";

/** What each reaction point carries: template variables, matcher input, exec stdin and bus payload are this object. */
export interface ReactionPayloads {
  session_start: { point: string; agent_name: string; hook_driven_turns: number };
  session_end: { point: string; agent_name: string; hook_driven_turns: number };
  turn_start: {
    point: string;
    agent_name: string;
    kind: string;
    chain_id: string | null;
    hook_driven_turns: number;
  };
  turn_end: {
    point: string;
    agent_name: string;
    chain_id: string | null;
    user_text: string;
    status: TurnStatus;
    hook_driven_turns: number;
  };
  skill_start: { point: string; run_id: string; skill_name: string; hook_driven_turns: number };
  skill_end: { point: string; run_id: string; status: string; hook_driven_turns: number };
  task_start: { point: string; task_id: string; name: string; assignee: string; hook_driven_turns: number };
  task_end: { point: string; task_id: string; status: string; hook_driven_turns: number };
  mcp_resource_updated: { point: string; server: string; uri: string; agent_name: string; resync: boolean };
  file_changed: { point: string; path: string; event_type: string };
  cron_fired: { point: string; job_name: string; to: string };
  webhook_received: { point: string; transport: string; sender: string };
}

export type ReactionPoint = keyof ReactionPayloads;
export type PointFamily = "lifecycle" | "external";

export interface ReactionSpec<P extends ReactionPoint = ReactionPoint> {
  family: PointFamily;
  /** When it fires, in one line. */
  fires: string;
  /** The part of reyn that fires it. */
  source: "session" | "skills" | "tasks" | "mcp" | "fs_watch" | "cron" | "webhook";
  fields: { readonly [F in keyof ReactionPayloads[P]]: FieldSpec };
}

const POINT = field("string", "the point's bare name");
const AGENT = field("string", "the agent that the session belongs to");
const DRIVEN = field("integer", "turns triggered from inside since the last human turn");
const CHAIN = field("string|null", "correlates a turn with the message chain that caused it");

/** Compiles only when every point, and every field of its payload, is here. */
export const REACTIONS: { readonly [P in ReactionPoint]: ReactionSpec<P> } = {
  session_start: {
    family: "lifecycle",
    fires: "a front door opens the session, before its first turn",
    source: "session",
    fields: { point: POINT, agent_name: AGENT, hook_driven_turns: DRIVEN },
  },
  session_end: {
    family: "lifecycle",
    fires: "the session's run ends, once, also on SIGINT, SIGTERM and SIGHUP",
    source: "session",
    fields: { point: POINT, agent_name: AGENT, hook_driven_turns: DRIVEN },
  },
  turn_start: {
    family: "lifecycle",
    fires: "a turn begins, before the model is asked",
    source: "session",
    fields: {
      point: POINT,
      agent_name: AGENT,
      kind: field("string", "kind of the message that triggered the turn", MESSAGE_KINDS),
      chain_id: CHAIN,
      hook_driven_turns: DRIVEN,
    },
  },
  turn_end: {
    family: "lifecycle",
    fires: "a turn ends, exactly once per turn_start",
    source: "session",
    fields: {
      point: POINT,
      agent_name: AGENT,
      chain_id: CHAIN,
      user_text: field("string", "text of the message that triggered the turn"),
      status: field("string", "how the turn ended", ["ok", "error", "interrupted"]),
      hook_driven_turns: DRIVEN,
    },
  },
  skill_start: {
    family: "lifecycle",
    fires: "a skill run starts",
    source: "skills",
    fields: {
      point: POINT,
      run_id: field("string", "the skill run"),
      skill_name: field("string", "the skill"),
      hook_driven_turns: DRIVEN,
    },
  },
  skill_end: {
    family: "lifecycle",
    fires: "a skill run ends, exactly once per start",
    source: "skills",
    fields: {
      point: POINT,
      run_id: field("string", "the skill run"),
      status: field("string", "how it ended"),
      hook_driven_turns: DRIVEN,
    },
  },
  task_start: {
    family: "lifecycle",
    fires: "a task is created",
    source: "tasks",
    fields: {
      point: POINT,
      task_id: field("string", "the task"),
      name: field("string", "its name"),
      assignee: field("string", "who it is assigned to"),
      hook_driven_turns: DRIVEN,
    },
  },
  task_end: {
    family: "lifecycle",
    fires: "a task is completed or aborted",
    source: "tasks",
    fields: {
      point: POINT,
      task_id: field("string", "the task"),
      status: field("string", "how it ended", ["completed", "aborted"]),
      hook_driven_turns: DRIVEN,
    },
  },
  mcp_resource_updated: {
    family: "external",
    fires: "a subscribed MCP resource changed",
    source: "mcp",
    fields: {
      point: POINT,
      server: field("string", "the MCP server"),
      uri: field("string", "the resource; matched as a glob"),
      agent_name: AGENT,
      resync: field("boolean", "true after a reconnect: the resource may have changed meanwhile"),
    },
  },
  file_changed: {
    family: "external",
    fires: "a watched file changed",
    source: "fs_watch",
    fields: {
      point: POINT,
      path: field("string", "the file; matched as a glob"),
      event_type: field("string", "what happened", ["created", "modified", "deleted", "resync"]),
    },
  },
  cron_fired: {
    family: "external",
    fires: "a cron job delivers to its session",
    source: "cron",
    fields: {
      point: POINT,
      job_name: field("string", "the job"),
      to: field("string", "the agent it is for"),
    },
  },
  webhook_received: {
    family: "external",
    fires: "an inbound webhook resolved to this session",
    source: "webhook",
    fields: {
      point: POINT,
      transport: field("string", "slack, line, webhook, …"),
      sender: field("string", "<transport>:<external id>"),
    },
  },
};

export const REACTION_POINTS = Object.keys(REACTIONS) as ReactionPoint[];

/** Points that something in this version fires. */
const SOURCES_PRESENT: ReadonlySet<ReactionSpec["source"]> = new Set(["session"]);

export function hasSource(point: ReactionPoint): boolean {
  return SOURCES_PRESENT.has(REACTIONS[point].source);
}

export function namespacedName(point: ReactionPoint): string {
  return `builtin:${REACTIONS[point].family}:${point}`;
}

const BY_NAME: ReadonlyMap<string, ReactionPoint> = new Map(
  REACTION_POINTS.flatMap((point) => [[point, point], [namespacedName(point), point]] as const),
);

export type HookTarget = { kind: "builtin"; point: ReactionPoint } | { kind: "composed"; name: string };

/**
 * What an `on:` names. Builtin names are trimmed and case-folded and may be namespaced; `composed:<name>` keeps its
 * case. Undefined where it names nothing a hook can be at.
 */
export function parseTarget(on: string): HookTarget | undefined {
  const trimmed = on.trim();
  const point = BY_NAME.get(trimmed.toLowerCase());
  if (point) return { kind: "builtin", point };
  const composed = /^composed:(.+)$/i.exec(trimmed)?.[1]?.trim();
  return composed ? { kind: "composed", name: composed } : undefined;
}
