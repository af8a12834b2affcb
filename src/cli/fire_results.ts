import type { DryHook } from "../runtime/fire_dry.ts";

/** What a firing by hand comes to, gathered from its audit events. */
export interface FireResults {
  record(type: string, data: Readonly<Record<string, unknown>>): void;
  /** By the hook as records call it. */
  of(hook: string): Partial<DryHook> | undefined;
  hooks(): string[];
}

export function fireResults(): FireResults {
  const results = new Map<string, Partial<DryHook>>();
  const add = (hook: unknown, result: Partial<DryHook>) => {
    if (typeof hook === "string") results.set(hook, { ...results.get(hook), ...result });
  };
  return {
    record(type, data) {
      if (type === "hook_shell_executed") add(data["hook"], { outcome: String(data["outcome"]) });
      if (type === "hook_exec_refused") add(data["hook"], { reason: String(data["reason"]) });
      if (type === "hook_failed") add(data["hook"], { reason: String(data["error"]) });
      if (type !== "hooks_evaluated") return;
      for (const [hook, verdict] of Object.entries(Object(data["verdicts"]) as Record<string, string>)) {
        const field = verdict.startsWith("matcher:") ? verdict.slice("matcher:".length) : undefined;
        add(hook, field === undefined ? { verdict } : { verdict: "matcher", field });
      }
    },
    of: (hook) => results.get(hook),
    hooks: () => [...results.keys()],
  };
}
