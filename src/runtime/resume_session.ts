import { ReynError } from "../errors/reyn_error.ts";
import { openJournal } from "../session/journal.ts";
import { openBare, type RuntimeHost } from "./open_bare.ts";

/** Ends a session's suspension, durably; answers the hook that had suspended it, null where none had. */
export async function resumeSession(
  controlDir: string,
  id: string,
  host: RuntimeHost,
): Promise<{ was: string | null }> {
  const bare = await openBare({ controlDir, verb: "sessions resume", host, talk: () => {} });
  try {
    const row = await bare.store.session(id);
    if (!row) {
      throw new ReynError("E_SESSION_UNKNOWN", `there is no session ${id}`, {
        fix: "`reyn sessions list` shows them",
      });
    }
    const claim = await bare.store.claim(id, bare.owner, bare.leaseMs);
    if (claim.status === "held") {
      throw new ReynError("E_ALREADY_RUNNING", `session ${id} is run by ${claim.owner}`);
    }
    const cap = typeof row.status["cap"] === "number" ? row.status["cap"] : 0;
    const journal = await openJournal({
      session: id,
      epoch: claim.epoch,
      store: bare.store,
      audit: bare.audit,
      cap,
      observe: () => {},
      routed: () => {},
    });
    const was = journal.state.suspended;
    if (was !== null) await journal.commit([{ t: "resumed", at: host.clock.now() }]);
    await bare.store.release(id, claim.epoch);
    return { was };
  } finally {
    await bare.close();
  }
}
