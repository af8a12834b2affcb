import type { Environment } from "../adapter/child_env.ts";
import type { Clock } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import { commandModel } from "./command.ts";
import { echoModel } from "./echo.ts";
import type { Model } from "./model.ts";
import { scriptedModel } from "./scripted.ts";
import type { ModelConfig } from "./section.ts";

export interface ModelParts {
  /** Absolute path of the control folder. */
  controlDir: string;
  clock: Clock;
  /** The runtime's own environment. */
  env: Environment;
  ids: Ids;
  /** Makes the agent's workspace where it is missing and answers its absolute path; throws E_WORKSPACE. */
  workspace?(): Promise<string>;
  /** Asked before each run of a command; what it answers is why it may not run. */
  recheckCommand?(argv: readonly string[]): Promise<string | undefined>;
}

/** The driver that a configuration asks for. One driver serves all sessions of the agents that share it. */
export function createModel(config: ModelConfig, parts: ModelParts): Model {
  const { controlDir, clock, env, ids, workspace, recheckCommand: recheck } = parts;
  switch (config.provider) {
    case "echo":
      return echoModel();
    case "scripted":
      return scriptedModel(config.script, { clock, ids });
    case "command": {
      const { command, timeoutMs, hookRole } = config;
      return commandModel({
        command,
        timeoutMs,
        hookRole,
        controlDir,
        env,
        clock,
        ...workspace ? { workspace } : {},
        ...recheck ? { recheck } : {},
      });
    }
  }
}
