import { asNumber, type Statements } from "./statements.ts";

/** Sessions remembered; the oldest to have committed are forgotten first. */
const MOST_SESSIONS = 100_000;

/** What this process has acknowledged, to be compared with the file after it had to be opened anew. */
export interface Ledger {
  committed(session: string, walSeq: number): void;
  stored(messageSeq: number): void;
  /** What is missing, in words; nothing when all is there. */
  missingIn(statements: Statements): string | undefined;
}

export function createLedger(): Ledger {
  const walSeqs = new Map<string, number>();
  let lastMessage = 0;
  return {
    committed(session, walSeq) {
      if (walSeqs.get(session) === walSeq) return;
      walSeqs.delete(session);
      walSeqs.set(session, walSeq);
      if (walSeqs.size <= MOST_SESSIONS) return;
      const oldest = walSeqs.keys().next();
      if (!oldest.done) walSeqs.delete(oldest.value);
    },
    stored(messageSeq) {
      lastMessage = Math.max(lastMessage, messageSeq);
    },
    missingIn(statements) {
      for (const [session, walSeq] of walSeqs) {
        const row = statements.sessionById.get(session);
        const found = row ? asNumber(row.wal_seq) : 0;
        if (found < walSeq) return `session ${session} ends at record ${found}, ${walSeq} was acknowledged`;
      }
      const newest = statements.messageLast.get()?.seq;
      if (lastMessage > 0 && (typeof newest !== "number" || newest < lastMessage)) {
        return "acknowledged inbox messages are missing";
      }
      return undefined;
    },
  };
}
