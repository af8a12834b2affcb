import { z } from "zod";
import { controlPath } from "../config/authority.ts";
import { readTextFile } from "../config/read_file.ts";
import { notYet } from "../config/refusal.ts";
import { type SectionContext, valueSection } from "../config/section.ts";
import { quote } from "../errors/quote.ts";
import { compileModel, type ModelConfig, modelSchema } from "../model/section.ts";
import { defaultWorkspace, namedWorkspace, type Workspace } from "./workspace.ts";

/** A declared agent. */
export interface Agent {
  /** Its own model; the top-level `model:` when null. */
  model: ModelConfig | null;
  /** System instructions, as they stand in its file. */
  instructions: string | undefined;
  workspace: Workspace;
}

export const DEFAULT_AGENT = "default";

/** Names of agents: they are folders, and halves of session ids. */
export const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const agentSchema = z.strictObject({
  model: modelSchema.optional(),
  instructions: controlPath().optional().meta({
    description: "A file with the agent's system instructions.",
  }),
  profile: notYet("profile", "permissions"),
  workspace: controlPath().optional().meta({
    description: "The folder that the agent works in; `workspace` when it is absent.",
  }),
}).nullable();

const agentName = z.string().regex(AGENT_NAME, { error: "must be letters, digits, - and _, at most 64" });

const schema = z.record(agentName, agentSchema).prefault({});

/** `agents:`. The agent `default` always exists; none is ever created by a message. */
export const agentsSection = valueSection<z.output<typeof schema>, ReadonlyMap<string, Agent>>({
  key: "agents",
  schema,
  compile(agents, context) {
    const declared = new Map([[DEFAULT_AGENT, null], ...Object.entries(agents)]);
    const compiled = new Map<string, Agent>();
    let usual: Workspace | undefined;
    for (const [name, agent] of declared) {
      const { model, instructions, workspace } = agent ?? {};
      compiled.set(name, {
        model: model ? compileModel(model, below(context, [name, "model"])) : null,
        instructions: instructions && readInstructions(name, instructions, context),
        workspace: workspace === undefined
          ? usual ??= defaultWorkspace(context)
          : namedWorkspace(workspace, below(context, [name, "workspace"])),
      });
    }
    return compiled;
  },
});

function readInstructions(agent: string, text: string, context: SectionContext): string | undefined {
  const read = readTextFile(context.resolve(text), text);
  const path = [agent, "instructions"];
  if (read.state === "text") return read.text;
  if (read.state === "absent") context.report(path, "E_FILE_UNREADABLE", `there is no file ${quote(text)}`);
  else context.report(path, read.finding.code, `${text} ${read.finding.message}`);
  return undefined;
}

/** A context for a part of the section's value. */
function below(context: SectionContext, base: readonly string[]): SectionContext {
  return {
    ...context,
    layerOf: (path) => context.layerOf([...base, ...path]),
    report: (path, ...rest) => context.report([...base, ...path], ...rest),
  };
}
