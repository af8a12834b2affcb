import type { Audit } from "../audit/audit.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { InboxMessage, Store } from "../store/store.ts";
import { LONGEST_MESSAGE, textOf } from "./messages.ts";

/**
 * Puts a message in a session's inbox, whether the session is loaded or not; durable when resolved. Throws
 * E_MESSAGE_TOO_LARGE, E_MESSAGE_KEY or E_INBOX_FULL, with a record, when it is not taken.
 */
export async function putMessage(
  session: string,
  message: InboxMessage,
  store: Store,
  audit: Audit,
): Promise<"stored" | "duplicate"> {
  if (textOf(message).length > LONGEST_MESSAGE) {
    audit.emit("inbox_refused", session, { kind: message.kind, reason: "message too large" });
    throw new ReynError("E_MESSAGE_TOO_LARGE", `the message is longer than ${LONGEST_MESSAGE} characters`);
  }
  const outcome = await store.put(session, message);
  switch (outcome.status) {
    case "stored":
      if (outcome.dropped.length > 0) {
        const reason = "inbox full of passive messages";
        audit.emit("inbox_dropped", session, { ids: outcome.dropped, reason });
      }
      return "stored";
    case "duplicate":
      return "duplicate";
    case "conflict":
      audit.emit("inbox_refused", session, { kind: message.kind, reason: "key of another message" });
      throw new ReynError("E_MESSAGE_KEY", `${session} has had another message under that key`, {
        fix: "send a new message under a key of its own; only a repetition has the key of the first",
      });
    case "full":
      audit.emit("inbox_refused", session, { kind: message.kind, reason: "inbox full" });
      throw new ReynError("E_INBOX_FULL", `the inbox of ${session} is full; the message was not taken`);
  }
}
