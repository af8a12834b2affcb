import { parseKind } from "../composers/kinds.ts";
import { DEEPEST_PAYLOAD, isNestedDeeper } from "../composers/nesting.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { Session } from "../session/session.ts";

export interface ExternalEvent {
  /** As an operator writes it: `file_changed`, `builtin:external:file_changed`, `mcp:<server>:<event>`, `llm:self:<event>`. */
  kind: string;
  payload: Readonly<Record<string, unknown>>;
  /** Stable where the event may be sent twice: pushes that follow from it have ids that begin with it. */
  id: string;
  chainId?: string | null;
}

/**
 * Publishes an event from outside on the bus of an opened session: its composers see it, and hooks at its point run in the
 * background lane. Resolves when everything durable that it armed is on disk; `session.run` and `session.close` wait
 * for what it set off. Throws E_COMPOSER_KIND for a kind that is none, E_MESSAGE_TOO_LARGE for a payload nested too deeply, E_STATE_IO when it could not be written down.
 */
export async function publishEvent(
  session: Session,
  own: SessionRef,
  { kind, payload, id, chainId = null }: ExternalEvent,
): Promise<void> {
  const parsed = parseKind(kind, own);
  if (!parsed.ok) {
    throw new ReynError(
      "E_COMPOSER_KIND",
      parsed.message,
      parsed.fix === undefined ? {} : { fix: parsed.fix },
    );
  }
  if (isNestedDeeper(payload, DEEPEST_PAYLOAD)) {
    const message = `the payload of ${quote(kind)} is nested more than ${DEEPEST_PAYLOAD} levels deep`;
    throw new ReynError("E_MESSAGE_TOO_LARGE", message);
  }
  const { input } = parsed;
  const whole = input.type === "builtin" ? { point: input.point, ...payload } : payload;
  try {
    await session.publish({ id, kind: input.kind, payload: whole, chainId });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ReynError("E_STATE_IO", `the event is not on disk: ${reason}`, { cause: error });
  }
}
