import assert from "node:assert/strict";
import {
  compileTemplate,
  type RenderResult,
  type Template,
  type TemplateOptions,
  type TemplateProblem,
} from "../../src/template/mod.ts";

type Options = Partial<TemplateOptions>;

export function compiled(source: string, options: Options = {}): Template {
  const result = compileTemplate(source, { strict: true, ...options });
  assert.ok(result.ok, result.ok ? "" : result.error.message);
  return result.template;
}

export function problem(source: string, options: Options = {}): TemplateProblem {
  const result = compileTemplate(source, { strict: true, ...options });
  assert.ok(!result.ok, `compiled: ${source.slice(0, 80)}`);
  return result.error;
}

export function rendered(
  source: string,
  variables: Record<string, unknown> = {},
  options: Options = {},
): RenderResult {
  return compiled(source, options).render(variables);
}

export function text(source: string, variables: Record<string, unknown> = {}, options: Options = {}): string {
  const result = rendered(source, variables, options);
  assert.ok(result.ok, result.ok ? "" : result.error);
  return result.text;
}

export function failure(
  source: string,
  variables: Record<string, unknown> = {},
  options: Options = {},
): string {
  const result = rendered(source, variables, options);
  assert.ok(!result.ok, `rendered: ${source.slice(0, 80)}`);
  return result.error;
}
