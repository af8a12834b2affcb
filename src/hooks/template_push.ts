import { type BoolResult, renderBool, type Template } from "../template/mod.ts";

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
  if (!when.ok) return { ...failure(when), field: "push_when" };
  if (!when.value) return { status: "withheld" };
  const wake = boolean(push.wake, payload);
  if (!wake.ok) return { ...failure(wake), field: "wake" };
  const session = push.session ? push.session.render(payload) : null;
  if (session && !session.ok) return { ...failure(session), field: "session" };
  const message = push.message.render(payload);
  if (!message.ok) return { ...failure(message), field: "message" };
  return {
    status: "push",
    text: message.text,
    wake: wake.value,
    session: session ? session.text.trim() || null : null,
  };
}

function boolean(value: Template | boolean, payload: Readonly<Record<string, unknown>>): BoolResult {
  return typeof value === "boolean" ? { ok: true, value } : renderBool(value, payload);
}

function failure({ error, rendered }: { error: string; rendered?: string }): Omit<PushFailure, "field"> {
  return { status: "failed", error, ...(rendered === undefined ? {} : { rendered }) };
}
