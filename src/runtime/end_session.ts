import { ReynError } from "../errors/reyn_error.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { requireStart } from "./audit_trust.ts";
import { loadForSession } from "./configuration.ts";
import { openRuntime, type OpenRuntimeOptions } from "./open_runtime.ts";
import { withStoreForReading } from "./read_store.ts";

export type EndSessionOptions = Pick<
  OpenRuntimeOptions,
  "controlDir" | "host" | "hooks" | "talk" | "observe"
>;

/**
 * Ends a session that is open, without a server: it is opened, a turn that was cut off is recorded as interrupted, `session_end`
 * fires, and it is over. No turn is taken. Answers how many waking messages are left. Throws E_SESSION_UNKNOWN.
 */
export async function endSession(ref: SessionRef, options: EndSessionOptions): Promise<{ waiting: number }> {
  const { controlDir } = options;
  const id = `${ref.agent}/${ref.sid}`;
  const configuration = loadForSession({ controlDir, ...ref });
  await requireStart(configuration, options);
  // Before anything is taken: nothing fires in a session that is not open.
  await withStoreForReading(controlDir, async ({ store }) => {
    const row = await store.session(id);
    if (!row) {
      throw new ReynError("E_SESSION_UNKNOWN", `there is no session ${id}`, {
        fix: "`reyn sessions list` shows them",
      });
    }
    if (row.status["open"] !== true) throw new ReynError("E_SESSION_UNKNOWN", `session ${id} is not open`);
  });
  const failures: unknown[] = [];
  const runtime = await openRuntime({
    ...options,
    verb: "sessions end",
    configuration,
    onFailure: (_session, error) => failures.push(error),
  });
  try {
    const session = await runtime.sessions.load(ref);
    session.stop();
    await session.run({ untilIdle: true });
    await runtime.sessions.end(ref);
    if (failures.length > 0) throw failures[0];
    return { waiting: (await runtime.store.session(id))?.waking ?? 0 };
  } finally {
    await runtime.close();
  }
}
