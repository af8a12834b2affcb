import { type BoolResult, renderBool, type Template } from "../template/mod.ts";

export interface CompiledPush {
  message: Template;
  /** A template that renders to a boolean, or the boolean itself. */
  wake: Template | boolean;
  pushWhen: Template | boolean;
  /** The session that is named, or a template that renders to it; null: the hook's own. */
  session: Template | string | null;
}

export type PushResult =
  | { status: "push"; text: string; wake: boolean; session: string | null }
  /** `push_when` said no. */
  | { status: "withheld" }
  | PushFailure;

export interface PushFailure {
  status: "failed";
  field: string;
  /** Holds nothing of the payload. */
  error: string;
  /** What the field came to, which may hold text of the payload. */
  rendered?: string;
}

/** Renders one push from a firing's payload. Never throws. */
export function renderPush(push: CompiledPush, payload: Readonly<Record<string, unknown>>): PushResult {
  const when = boolean(push.pushWhen, payload);
  if (!when.ok) return { ...failure({ ...when, ...logged(when.error, push.pushWhen) }), field: "push_when" };
  if (!when.value) return { status: "withheld" };
  const wake = boolean(push.wake, payload);
  if (!wake.ok) return { ...failure({ ...wake, ...logged(wake.error, push.wake) }), field: "wake" };
  const session = target(push.session, payload);
  if (!session.ok) return { ...failure(logged(session.error, push.session)), field: "session" };
  const message = push.message.render(payload);
  if (!message.ok) return { ...failure(logged(message.error, push.message)), field: "message" };
  return {
    status: "push",
    text: message.text,
    wake: wake.value,
    session: session.text.trim() || null,
  };
}

function target(
  session: Template | string | null,
  payload: Readonly<Record<string, unknown>>,
): ReturnType<Template["render"]> {
  return typeof session === "object" && session ? session.render(payload) : { ok: true, text: session ?? "" };
}

function boolean(value: Template | boolean, payload: Readonly<Record<string, unknown>>): BoolResult {
  return typeof value === "boolean" ? { ok: true, value } : renderBool(value, payload);
}

/**
 * A template's error as it may be logged: what it quotes is kept only where the template's own text has it, for a name that
 * was computed holds text of the payload. The whole of it is for a person who watches.
 */
function logged(
  error: string,
  template: Template | string | boolean | null,
): { error: string; rendered?: string } {
  const source = typeof template === "object" && template ? template.source : "";
  const quoted = [...error.matchAll(/'([^']*)'|"([^"]*)"/g)];
  const foreign = quoted.find((match) => !source.includes(match[1] ?? match[2] ?? ""));
  return foreign ? { error: `${error.slice(0, foreign.index)}'…'`, rendered: error } : { error };
}

function failure({ error, rendered }: { error: string; rendered?: string }): Omit<PushFailure, "field"> {
  return { status: "failed", error, ...(rendered === undefined ? {} : { rendered }) };
}
