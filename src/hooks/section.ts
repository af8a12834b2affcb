import { type ListSection, listSection, type SectionContext } from "../config/section.ts";
import type { Finding } from "../errors/finding.ts";
import { parseTarget } from "../points/reactions.ts";
import { compileHook } from "./compile_hook.ts";
import type { Hook } from "./hook.ts";
import { type HookInput, hookSchema } from "./schema.ts";
import type { SessionRef } from "./session_ref.ts";

/** A hook at `composed:<name>`: whether a composer emits that, only all layers together tell. */
export interface ComposedHook {
  /** `composed:<name>`. */
  kind: string;
  /** What is to be told when no composer emits it. */
  finding: Finding;
}

/** The `hooks:` list of every layer, compiled for one session. `onComposed` is told of each hook at a composed event. */
export function hooksSection(
  own: SessionRef,
  onComposed: (hook: ComposedHook) => void = () => {},
): ListSection<HookInput, Hook[]> {
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
        const target = parseTarget(value.on);
        if (target?.kind !== "composed") continue;
        const kind = `composed:${target.name}`;
        const finding = context.finding([index, "on"], "E_HOOK_COMPOSED", `no composer emits ${kind}`);
        onComposed({ kind, finding });
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
