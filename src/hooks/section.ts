import { type ListSection, listSection, type SectionContext } from "../config/section.ts";
import { compileHook } from "./compile_hook.ts";
import type { Hook } from "./hook.ts";
import { type HookInput, hookSchema } from "./schema.ts";
import type { SessionRef } from "./session_ref.ts";

/** The `hooks:` list of every layer, compiled for one session. */
export function hooksSection(own: SessionRef): ListSection<HookInput, Hook[]> {
  return listSection<HookInput, Hook[]>({
    key: "hooks",
    item: hookSchema,
    compile(items, context) {
      const hooks: Hook[] = [];
      const names = new Map<string, number>();
      for (const { index, value } of items) {
        const name = value.name?.trim() ?? "";
        if (name !== "") reportTaken(name, index, names, context);
        const hook = compileHook(value, index, context, own);
        if (hook) hooks.push(hook);
      }
      return hooks;
    },
  });
}

function reportTaken(name: string, index: number, names: Map<string, number>, context: SectionContext): void {
  const first = names.get(name);
  if (first === undefined) names.set(name, index);
  else context.report([index, "name"], "E_HOOK_NAME", `the name "${name}" is taken by hooks[${first}]`);
}
