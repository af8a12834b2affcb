import type { Template } from "./template.ts";

export type BoolResult = { ok: true; value: boolean } | { ok: false; error: string };

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off", ""]);

/** Renders a template that must say true/1/yes/on or false/0/no/off/nothing; spaces around and case do not count. */
export function renderBool(template: Template, variables: Readonly<Record<string, unknown>>): BoolResult {
  const rendered = template.render(variables);
  if (!rendered.ok) return rendered;
  const word = rendered.text.trim().toLowerCase();
  if (TRUE.has(word)) return { ok: true, value: true };
  if (FALSE.has(word)) return { ok: true, value: false };
  const shown = word.length > 40 ? `${word.slice(0, 40)}…` : word;
  return { ok: false, error: `${JSON.stringify(shown)} is neither true nor false` };
}
