import { MAX_OUTPUT_BYTES, MAX_STEPS, type Run } from "./budget.ts";
import { assignedNames, type Compiler, type Execute, inScope, newCompiler, newScope } from "./compiler.ts";
import { compileBody } from "./compile_statement.ts";
import { escapeOutside, refuseForgery } from "./escape.ts";
import { parseTemplate } from "./parse.ts";
import { problemOf, RenderFault, SourceFault, type TemplateProblem, unknownName } from "./problem.ts";
import { MAX_SOURCE_BYTES } from "./syntax.ts";

export interface TemplateOptions {
  /** True: using an undefined variable fails. False: it shows as nothing; attributes of it fail all the same. */
  strict: boolean;
  /**
   * The variables there can be. Naming another one is an error of the source, unless it is asked about with
   * `is defined`, or gets a `default` where it stands. Absent: any name is fine.
   */
  known?: readonly string[];
  /** Texts of the variables are escaped to one line (see `escapeOutside`); what the template itself says is not. */
  escapeValues?: boolean;
}

export type RenderResult = { ok: true; text: string } | { ok: false; error: string };

/** A compiled template. It has no state and can be rendered by several callers at once. */
export interface Template {
  /** Never throws, and ends within a budget of steps and bytes. */
  render(variables: Readonly<Record<string, unknown>>): RenderResult;
  readonly source: string;
  /** Names that it looks up outside of itself. */
  readonly variables: readonly string[];
  /** Whether it is plain text: no tags that do anything. */
  readonly isStatic: boolean;
}

export type CompileResult = { ok: true; template: Template } | { ok: false; error: TemplateProblem };

/** Compiles a Jinja2 template of at most 8 KiB. Nothing in it can reach code: it is data walked by functions of reyn. */
export function compileTemplate(source: string, options: TemplateOptions): CompileResult {
  if (source.length > MAX_SOURCE_BYTES || new TextEncoder().encode(source).length > MAX_SOURCE_BYTES) {
    return { ok: false, error: { message: "the template is larger than 8 KiB" } };
  }
  try {
    return { ok: true, template: compile(source, options) };
  } catch (error) {
    if (error instanceof SourceFault) return { ok: false, error: problemOf(error, source) };
    return { ok: false, error: { message: "the template is nested too deeply" } };
  }
}

function compile(source: string, options: TemplateOptions): Template {
  const { strict, escapeValues = false } = options;
  const statements = parseTemplate(source);
  const compiler = newCompiler(escapeValues);
  const scope = newScope(compiler, assignedNames(statements));
  const body = inScope(compiler, scope, () => compileBody(compiler, statements));
  if (options.known) checkKnown(compiler, options.known);
  const { slotCount } = compiler;
  return {
    source,
    variables: [...compiler.variables],
    isStatic: statements.every(({ kind }) => kind === "text"),
    render: (variables) =>
      render(body, {
        variables,
        slots: new Array(slotCount),
        strict,
        outside: escapeValues ? escapeOutside : asItIs,
        escaped: new Map(),
        output: "",
        stepsLeft: MAX_STEPS,
      }, escapeValues),
  };
}

function asItIs(text: string): string {
  return text;
}

function checkKnown(compiler: Compiler, known: readonly string[]): void {
  for (const [name, at] of compiler.unguarded) {
    if (!known.includes(name) && !compiler.tested.has(name)) throw unknownName("variable", name, known, at);
  }
}

function render(body: Execute, run: Run, escapeValues: boolean): RenderResult {
  try {
    body(run);
    const text = escapeValues ? refuseForgery(run.output) : run.output;
    // One UTF-16 unit is at most three bytes.
    if (text.length * 3 > MAX_OUTPUT_BYTES && new TextEncoder().encode(text).length > MAX_OUTPUT_BYTES) {
      return { ok: false, error: "the output is larger than 1 MiB" };
    }
    return { ok: true, text };
  } catch (error) {
    if (error instanceof RenderFault) return { ok: false, error: error.message };
    return { ok: false, error: "the template could not be rendered with these variables" };
  }
}
