import type { Clock } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { listStore, type Stored } from "./list_store.ts";
import { listText } from "./list_text.ts";
import { readTrustRecord, type TrustRecord, writeTrustRecord } from "./trust_record.ts";

/** What the operator trusts, by control folder. Nothing here throws. */
export interface TrustFile {
  readonly path: string;
  /** What is recorded for a folder (canonical), as the file stands now. */
  find(folder: string): TrustRecord | undefined;
  /** Records this instead of what was recorded for the folder. */
  store(record: TrustRecord): Promise<Stored>;
  /** Takes back all that was recorded for a folder. */
  revoke(folder: string): Promise<Stored & { revoked: boolean }>;
  /** Why all or some of the file trusts nothing. What was set aside is told as long as the process lives. */
  problems(): Finding[];
}

export interface TrustFileOptions {
  /** Absolute. */
  path: string;
  clock: Clock;
  /** Whose the file must be. Default: the account that this process acts as. */
  uid?: number;
  /** Longest wait for another writer, in milliseconds. Default 5000. */
  lockWaitMs?: number;
}

export function openTrustFile(options: TrustFileOptions): TrustFile {
  const { path } = options;
  const notes: Finding[] = [];
  const store = listStore({
    ...options,
    onSetAside(reason, aside) {
      const message = `${path} was damaged (${reason}) and trusts nothing; it is now ${aside}`;
      notes.push(finding("E_TRUST_DAMAGED", message, { fix: "trust your projects again" }));
    },
  });
  /** The elements as they are, with what each says. */
  const records = (elements: readonly unknown[]) =>
    elements.map((element) => ({ element, record: readTrustRecord(element) }));

  return {
    path,
    find(folder) {
      const read = store.read();
      if (read.status !== "read") return undefined;
      return records(read.elements).findLast(({ record }) => record?.folder === folder)?.record;
    },
    store: (record) =>
      store.change((elements) => {
        const others = records(elements).filter((one) => one.record?.folder !== record.folder);
        return listText([...others.map(({ element }) => element), writeTrustRecord(record)]);
      }),
    async revoke(folder) {
      let revoked = false;
      const stored = await store.change((elements) => {
        const others = records(elements).filter((one) => one.record?.folder !== folder);
        revoked = others.length < elements.length;
        return revoked ? listText(others.map(({ element }) => element)) : undefined;
      });
      return { ...stored, revoked };
    },
    problems() {
      const read = store.read();
      switch (read.status) {
        case "absent":
          return notes;
        case "unsafe": {
          const fix = "see to it that it is your own and nobody else's: chmod 600, chown";
          return [...notes, finding("E_TRUST_UNSAFE", `${path} trusts nothing: ${read.reason}`, { fix })];
        }
        case "damaged": {
          const message = `${path} is damaged and trusts nothing: ${read.reason}`;
          const fix = "repair it; `reyn trust` puts it aside and begins a new one";
          return [...notes, finding("E_TRUST_DAMAGED", message, { fix })];
        }
        case "read": {
          const odd = records(read.elements).filter(({ record }) => !record).length;
          if (odd === 0) return notes;
          const message = `${path} holds ${odd === 1 ? "an entry" : `${odd} entries`} of no effect: ` +
            "not of the form that reyn writes";
          return [...notes, finding("W_TRUST_ENTRY", message, { fix: "trust that project again" })];
        }
      }
    },
  };
}
