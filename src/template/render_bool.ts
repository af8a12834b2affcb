import type { Template } from "./template.ts";

export type BoolResult =
  | { ok: true; value: boolean }
  /** `rendered` is what came out where that is no answer; unlike `error` it may hold text of the variables. */
  | { ok: false; error: string; rendered?: string };

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off", ""]);

/** Renders a template that must say true/1/yes/on or false/0/no/off/nothing; spaces around and case do not count. */
export function renderBool(template: Template, variables: Readonly<Record<string, unknown>>): BoolResult {
  const rendered = template.render(variables);
  if (!rendered.ok) return rendered;
  const word = rendered.text.trim().toLowerCase();
  if (TRUE.has(word)) return { ok: true, value: true };
  if (FALSE.has(word)) return { ok: true, value: false };
  return { ok: false, error: "renders to neither true nor false", rendered: word };
}
