import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { GroupCommit } from "./group_commit.ts";
import { fromText } from "./odd_text.ts";
import { asNumber, asText } from "./statements.ts";

const ROWS_AT_ONCE = 1000;

/**
 * A stretch a transaction, so that other commits get in between and a crash on the way loses nothing but the rest of the
 * work. Ids lie in the order in which they came; the clock may have been set back among them, so the search goes on to the
 * first stretch that holds none that is old enough.
 */
export async function forgetIds(
  database: Database,
  commits: GroupCommit,
  options: { acceptedBefore: number; keep: (id: string) => boolean; dry?: boolean },
  killPoint: (label: string) => void,
): Promise<number> {
  const { acceptedBefore, keep, dry = false } = options;
  let forgotten = 0;
  for (let after = 0;;) {
    const from = after;
    const rows = (await database.read(({ messageOld }) => messageOld.all(from, ROWS_AT_ONCE)))
      .map((row) => ({ seq: asNumber(row.seq), id: asText(row.id), at: asNumber(row.at) }));
    const old = rows.filter(({ at }) => at < acceptedBefore);
    const seqs = old.filter(({ id }) => !keep(fromText(id))).map(({ seq }) => seq);
    if (seqs.length > 0 && !dry) {
      const list = JSON.stringify(seqs);
      await commits.submit(list.length, ({ statements }) => {
        statements.messageForget.run(list);
        return { keep: true, value: undefined };
      });
      killPoint("store:in_forget");
    }
    forgotten += seqs.length;
    if (old.length === 0 || rows.length < ROWS_AT_ONCE) return forgotten;
    after = rows.at(-1)?.seq ?? after;
    await nextTurn();
  }
}
