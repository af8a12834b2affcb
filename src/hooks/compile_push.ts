import type { SectionContext } from "../config/section.ts";
import { quote } from "../errors/quote.ts";
import { type HookTarget, REACTIONS } from "../points/reactions.ts";
import { type CompileResult, compileTemplate, type Template, type TemplateOptions } from "../template/mod.ts";
import type { HookInput } from "./schema.ts";
import {
  isSameSession,
  isSessionRef,
  mayName,
  OPERATOR_LAYERS,
  parseSessionRef,
  type SessionRef,
} from "./session_ref.ts";
import type { CompiledPush } from "./template_push.ts";

type PushInput = NonNullable<HookInput["template_push"]>;

/** Compiles the templates of a push; undefined when one of them was reported. */
export function compilePush(
  input: PushInput,
  target: HookTarget | undefined,
  context: SectionContext,
  own: SessionRef,
): CompiledPush | undefined {
  const known = target?.kind === "builtin" ? Object.keys(REACTIONS[target.point].fields) : undefined;
  const message = compile("message", input.message, {
    strict: true,
    escapeValues: true,
    ...(known ? { known } : {}),
  }, context);
  const wake = flag("wake", input.wake, known, context);
  const pushWhen = flag("push_when", input.push_when, known, context);
  const session = compileSession(input.session, known, context, own);
  if (!message || wake === undefined || pushWhen === undefined || session === undefined) return undefined;
  return { message, wake, pushWhen, session };
}

function flag(
  field: "wake" | "push_when",
  value: string | boolean | undefined,
  known: readonly string[] | undefined,
  context: SectionContext,
): Template | boolean | undefined {
  return typeof value === "string" ? compileLenient(field, value, known, context) : value ?? true;
}

/**
 * Only a session with `{{` is rendered at each firing. Another agent's sessions are the operator's to name: the layers that
 * an agent may write stay within their own.
 */
function compileSession(
  value: string | null | undefined,
  known: readonly string[] | undefined,
  context: SectionContext,
  own: SessionRef,
): Template | string | null | undefined {
  if (value === undefined || value === null || value.trim() === "") return null;
  if (value.includes("{{")) return compileLenient("session", value, known, context);
  const ref = parseSessionRef(value.trim(), own);
  if (isSameSession(ref, own)) return null;
  const refusal = mayName(ref, own, context.layer)
    ? undefined
    : `only ${OPERATOR_LAYERS} may name a session of another agent`;
  if (refusal === undefined && isSessionRef(ref)) return value.trim();
  context.report(
    ["template_push", "session"],
    "E_HOOK_SESSION",
    refusal ?? `${quote(value.trim())} cannot name a session: \`<sid>\` or \`<agent>/<sid>\``,
  );
  return undefined;
}

/** Elsewhere than in `message` a name that the point does not have shows as nothing, which is hardly what was meant. */
function compileLenient(
  field: keyof PushInput,
  source: string,
  known: readonly string[] | undefined,
  context: SectionContext,
): Template | undefined {
  const compiled = compile(field, source, { strict: false }, context);
  if (!compiled || !known || compiled.variables.every((name) => known.includes(name))) return compiled;
  // Only one that names something else is compiled again, to tell whether that name is guarded.
  const checked = compileTemplate(source, { strict: false, known });
  if (!checked.ok && checked.error.name !== undefined) {
    context.report(["template_push", field], "W_HOOK_VARIABLE", checked.error.message);
  }
  return compiled;
}

function compile(
  field: keyof PushInput,
  source: string,
  options: TemplateOptions,
  context: SectionContext,
): Template | undefined {
  const compiled = options.strict ? compileTemplate(source, options) : remembered(source);
  if (compiled.ok) return compiled.template;
  const { message, line, column } = compiled.error;
  const where = line === undefined ? "" : ` (line ${line}, column ${column} of the template)`;
  context.report(["template_push", field], "E_HOOK_TEMPLATE", `${message}${where}`);
  return undefined;
}

/** Conditions are alike in many hooks, and a compiled template has no state. */
const CONDITIONS = new Map<string, CompileResult>();
const MOST_REMEMBERED = 256;

function remembered(source: string): CompileResult {
  const known = CONDITIONS.get(source);
  if (known) return known;
  const compiled = compileTemplate(source, { strict: false });
  if (CONDITIONS.size < MOST_REMEMBERED) CONDITIONS.set(source, compiled);
  return compiled;
}
