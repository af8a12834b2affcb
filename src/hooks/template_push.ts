import { renderBool, type Template } from "../template/mod.ts";

export interface CompiledPush {
  message: Template;
  /** A template that renders to a boolean, or the boolean itself. */
  wake: Template | boolean;
  pushWhen: Template | boolean;
  /** A template that renders to a session id; null: this session. A literal id is settled when hooks are loaded. */
  session: Template | null;
}

export type PushResult =
  | { status: "push"; text: string; wake: boolean; session: string | null }
  /** `push_when` said no. */
  | { status: "withheld" }
  | { status: "failed"; field: string; error: string };

/** Renders one push from a firing's payload. Never throws. */
export function renderPush(push: CompiledPush, payload: Readonly<Record<string, unknown>>): PushResult {
  const when = boolean(push.pushWhen, payload);
  if (when.error !== undefined) return { status: "failed", field: "push_when", error: when.error };
  if (!when.value) return { status: "withheld" };
  const wake = boolean(push.wake, payload);
  if (wake.error !== undefined) return { status: "failed", field: "wake", error: wake.error };
  const session = push.session ? push.session.render(payload) : null;
  if (session && !session.ok) return { status: "failed", field: "session", error: session.error };
  const message = push.message.render(payload);
  if (!message.ok) return { status: "failed", field: "message", error: message.error };
  return {
    status: "push",
    text: message.text,
    wake: wake.value,
    session: session ? session.text.trim() || null : null,
  };
}

function boolean(
  value: Template | boolean,
  payload: Readonly<Record<string, unknown>>,
): { value: boolean; error?: undefined } | { value: false; error: string } {
  if (typeof value === "boolean") return { value };
  const rendered = renderBool(value, payload);
  return rendered.ok ? { value: rendered.value } : { value: false, error: rendered.error };
}
