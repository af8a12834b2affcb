import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { conformance } from "./conformance.ts";
import { tempState } from "./support.ts";

conformance("sqlite", async ({ limits }) => {
  const { dir, remove } = await tempState();
  const clock = virtualClock();
  const open = () => openSqliteStore({ dir, clock, ...(limits ? { limits } : {}) });
  const subject = {
    store: await open(),
    async reopen() {
      await subject.store.close();
      return subject.store = await open();
    },
    advance: (ms: number) => clock.advance(ms),
    async dispose() {
      await subject.store.close();
      await remove();
    },
  };
  return subject;
});
