import { setImmediate as nextTurn } from "node:timers/promises";
import { ReynError } from "../../errors/reyn_error.ts";
import type { Database } from "./database.ts";
import { toText } from "./odd_text.ts";
import { asNumber, type Statements } from "./statements.ts";

const STRETCH = 4000;

export interface Link {
  pos: number;
  seq: number;
}

/**
 * Positions of a session's records with `afterSeq < seq <= last.seq`, ascending, following each record's pointer to the one
 * before. They end early where older ones have been truncated.
 */
export async function walkBack(
  database: Database,
  key: number,
  last: Link,
  afterSeq: number,
): Promise<Float64Array> {
  const backwards: number[] = [];
  let from = last;
  while (from.seq > afterSeq) {
    const { pos, seq } = from;
    const steps = await database.read((statements) => {
      if (seq - STRETCH > afterSeq && isUnbroken(statements, key, from)) {
        return Array.from({ length: STRETCH + 1 }, (_, step) => pos - step);
      }
      return statements.walBack.all(pos, key, seq, afterSeq, STRETCH + 1).map((row) => asNumber(row.pos));
    });
    // Each further stretch begins with the record that the one before ended with.
    for (let i = backwards.length === 0 ? 0 : 1; i < steps.length; i++) backwards.push(steps[i] ?? 0);
    if (steps.length <= STRETCH) break;
    from = { pos: steps[STRETCH] ?? 0, seq: seq - STRETCH };
    await nextTurn();
  }
  const oldest = last.seq - backwards.length + 1;
  if (oldest > afterSeq + 1) await checkTruncated(database, key, oldest);
  return Float64Array.from(backwards.reverse());
}

/** Positions of the records that the newest snapshot stands for; undefined where there is no snapshot. */
export async function truncatablePositions(
  database: Database,
  session: string,
): Promise<{ key: number; positions: Float64Array } | undefined> {
  const place = await database.read((statements) => {
    const key = statements.sessionById.get(toText(session))?.key;
    const row = key === undefined ? undefined : statements.snapshotPlace.get(asNumber(key));
    return row && { key: asNumber(key), pos: asNumber(row.pos), seq: asNumber(row.upto_seq) };
  });
  return place && { key: place.key, positions: await walkBack(database, place.key, place, 0) };
}

/** Positions only grow along a session, so when one STRETCH records earlier lies STRETCH earlier, all between are its own. */
function isUnbroken(statements: Statements, key: number, from: Link): boolean {
  return statements.walIs.get(from.pos - STRETCH, key, from.seq - STRETCH) !== undefined;
}

/** Records may be missing up to the snapshot and nowhere else. */
async function checkTruncated(database: Database, key: number, oldest: number): Promise<void> {
  const row = await database.read((statements) => statements.snapshotPlace.get(key));
  if (row && asNumber(row.upto_seq) >= oldest - 1) return;
  throw new ReynError("E_STATE_CORRUPT", `${database.path}: record ${oldest - 1} of a session is missing`, {
    fix: "restore a backup",
  });
}
