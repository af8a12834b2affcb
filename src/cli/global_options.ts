import type { Command } from "commander";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { GlobalOptions } from "./host.ts";

/** Options of the command and of all above it; the nearest one that was given wins. */
export function mergedOptions(command: Command): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  const chain: Command[] = [];
  for (let at: Command | null = command; at; at = at.parent) chain.unshift(at);
  for (const at of chain) {
    for (const [key, value] of Object.entries(at.opts())) {
      const given = at.getOptionValueSource(key) !== "default";
      if (given || !(key in merged)) merged[key] = value;
    }
  }
  return merged;
}

export function globalsOf(options: Record<string, unknown>): GlobalOptions {
  const text = (key: string, fallback: string) =>
    typeof options[key] === "string" ? options[key] as string : fallback;
  const session = text("session", "main");
  const slash = session.indexOf("/");
  if (slash !== -1 && options["agent"] !== undefined && options["agent"] !== session.slice(0, slash)) {
    throw new ReynError("E_USAGE", `--agent ${text("agent", "")} and --session ${session} name two agents`, {
      exitCode: EXIT.usage,
    });
  }
  return {
    dir: text("dir", "."),
    agent: slash === -1 ? text("agent", "default") : session.slice(0, slash),
    session: slash === -1 ? session : session.slice(slash + 1),
    json: options["json"] === true,
    hooks: options["hooks"] !== false,
    quiet: options["quiet"] === true,
    ...(typeof options["config"] === "string" ? { config: options["config"] } : {}),
  };
}
