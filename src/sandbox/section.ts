import { z } from "zod";
import { authority } from "../config/authority.ts";
import { refuse } from "../config/refusal.ts";
import { bool, duration, expecting, nonBlank } from "../config/scalars.ts";
import { valueSection } from "../config/section.ts";

/** What the agent's own commands may do. It never reaches a hook; what it declares is told at each run that leaves it open. */
export interface AgentPolicy {
  network?: boolean | undefined;
  subprocess?: boolean | undefined;
  write_paths?: string[] | undefined;
}

export interface SandboxConfig {
  backend: "auto" | "landlock" | "seatbelt" | "noop";
  /** Paths that no hook may read or write, besides the built-in list. */
  denyRead: readonly string[];
  policy: AgentPolicy;
}

const backend = authority(
  z.enum(["auto", "landlock", "seatbelt", "noop", "container"]).transform((name, context) => {
    if (name !== "container") return name;
    refuse(context, "E_KEY_NOT_YET", "`backend: container` does not exist yet", { fix: "use auto" });
    return z.NEVER;
  }).prefault("auto"),
  (name) => name !== "noop" || { operatorOnly: "whether there is a sandbox is not the project's to say" },
);

const paths = () => z.array(nonBlank(), { error: expecting("must be a list of paths") });

const policy = authority(z.strictObject({
  network: bool().optional(),
  subprocess: bool().optional(),
  write_paths: paths().optional(),
  timeout: duration().optional(),
}));

export const sandboxSection = valueSection({
  key: "sandbox",
  adding: ["deny_read"],
  schema: z.strictObject({
    backend: backend.meta({
      enum: ["auto", "landlock", "seatbelt", "noop"],
      description: "How the agent's own commands are confined; hooks always are.",
    }),
    deny_read: paths().default([]).meta({
      description: "Paths that no hook may read or write. A project adds to it.",
    }),
    policy: policy.optional().meta({
      description: "What the agent's own commands may do; never reaches a hook.",
    }),
  }).prefault({}),
  compile: (value): SandboxConfig => ({
    backend: value.backend,
    denyRead: value.deny_read,
    policy: value.policy ?? {},
  }),
});
