export { escapeOutside } from "./escape.ts";
export type { TemplateProblem } from "./problem.ts";
export { type BoolResult, renderBool } from "./render_bool.ts";
export {
  type CompileResult,
  compileTemplate,
  type RenderResult,
  type Template,
  type TemplateOptions,
} from "./template.ts";
