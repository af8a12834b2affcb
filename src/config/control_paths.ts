import { join } from "node:path";
import { ReynError } from "../errors/reyn_error.ts";
import { quote } from "../errors/quote.ts";
import type { Layer } from "./section.ts";

/** A file that may hold configuration. */
export interface ConfigFile {
  layer: Layer;
  /** Absolute. */
  path: string;
  /** As findings show it: relative to the control folder, `~/…` for the operator's. */
  shown: string;
  /** Set for a file whose part of reyn does not exist yet. */
  notYet?: string;
}

const RUNTIME_DIR = ".reyn/config";
const NOT_YET_FILES: readonly (readonly [string, string])[] = [
  ["cron.yaml", "cron"],
  ["mcp.yaml", "MCP"],
  ["pipelines.yaml", "pipelines"],
];

export function operatorFile(home: string): ConfigFile {
  return { layer: "operator", path: join(home, ".reyn/config.yaml"), shown: "~/.reyn/config.yaml" };
}

export function startupFiles(controlDir: string): { base: ConfigFile; local: ConfigFile } {
  return {
    base: inside(controlDir, "startup", "reyn.yaml"),
    local: inside(controlDir, "startup", "reyn.local.yaml"),
  };
}

export function runtimeFiles(controlDir: string): ConfigFile[] {
  return [
    inside(controlDir, "runtime", `${RUNTIME_DIR}/hooks.yaml`),
    ...NOT_YET_FILES.map(([name, part]) => ({
      ...inside(controlDir, "runtime", `${RUNTIME_DIR}/${name}`),
      notYet: part,
    })),
  ];
}

export function agentFile(controlDir: string, agent: string): ConfigFile {
  return inside(controlDir, "agent", `${agentDir(agent)}/hooks.yaml`);
}

export function sessionFile(controlDir: string, agent: string, sid: string): ConfigFile {
  return inside(controlDir, "session", `${sessionDir(agent, sid)}/hooks.yaml`);
}

/** The folder of an agent, relative to the control folder. */
export function agentDir(agent: string): string {
  return `.reyn/agents/${segment(agent, "E_AGENT_UNKNOWN")}`;
}

/** The folder of a session, relative to the control folder: `main` has the agent's own state folder. */
export function sessionDir(agent: string, sid: string): string {
  const state = `${agentDir(agent)}/state`;
  return sid === "main" ? state : `${state}/sessions/${segment(sid, "E_SESSION_NAME")}`;
}

function inside(controlDir: string, layer: Layer, shown: string): ConfigFile {
  return { layer, path: join(controlDir, shown), shown };
}

/** Names are checked where they enter; this keeps a bad one from ever leaving its folder. */
function segment(name: string, code: "E_AGENT_UNKNOWN" | "E_SESSION_NAME"): string {
  if (name === "" || name === "." || name === ".." || /[/\\\0]/.test(name)) {
    throw new ReynError(code, `${quote(name)} cannot name a folder`);
  }
  return name;
}
