// Run as a process of its own by crash_test.ts: `crash_child.ts DIR [LABEL COUNT]` writes turns to three sessions without end,
// tells each acknowledged call on stdout, and kills itself at the COUNTth passing of the kill point LABEL.
import { writeSync } from "node:fs";
import { systemClock } from "../../src/clock/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Op } from "../../src/store/store.ts";
import { CRASH_SESSIONS } from "./support.ts";

const [dir = "", label, count] = process.argv.slice(2);
let passed = 0;
const store = await openSqliteStore({
  dir,
  clock: systemClock,
  limits: { waking: 0, passive: 0, bytes: 0 },
  killPoint(at) {
    if (at === label && ++passed === Number(count)) process.kill(process.pid, "SIGKILL");
  },
});
const tell = (...words: (string | number)[]) => writeSync(1, `${words.join(" ")}\n`);

async function run(session: string, next: string): Promise<void> {
  const claimed = await store.claim(session, "crash", 60_000);
  if (claimed.status !== "claimed") throw new Error(`${session} is held`);
  const { epoch } = claimed;
  const left = (await store.pending(session, 100_000)).filter(({ kind }) => kind === "turn").map(({ id }) =>
    id
  );
  for (let n = 0;; n++) {
    const id = left.shift() ?? `${epoch}-${n}`;
    if ((await store.put(session, { id, kind: "turn", wake: true, body: { id } })).status === "stored") {
      tell("put", session, id);
    }
    const half = (part: number): Op => ({
      op: "append",
      record: { part: `${id}/${part}`, pad: "x".repeat(n % 7 * 300) },
    });
    const sent = { id: `from-${session}-${id}`, kind: "sent", wake: true, body: { id } };
    const ops: Op[] = [
      { op: "consume", ids: [id] },
      half(1),
      { op: "put", session: next, message: sent },
      half(2),
    ];
    if (n % 5 === 4) ops.push({ op: "snapshot", body: { id }, history: [{ id }] });
    const answer = await store.commit({ session, epoch, ops });
    if (answer.status !== "ok") throw new Error(`${session}: ${answer.status}`);
    tell("commit", session, answer.walSeq, id);
    if (n % 10 === 9) {
      await store.truncate(session);
      await store.forget({ acceptedBefore: Number.MAX_SAFE_INTEGER, keep: () => false });
    }
  }
}

await Promise.all(
  CRASH_SESSIONS.map((session, i) =>
    run(session, CRASH_SESSIONS[(i + 1) % CRASH_SESSIONS.length] ?? session)
  ),
);
