import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface PendingFiles {
  /** By session: ids of the composed events that are published, or will be, and have not settled. */
  sessions: Map<string, Set<string>>;
  /** Files that cannot be read: they are rewritten whole, so that no kill leaves one. */
  violations: string[];
}

interface Content {
  version: number;
  records: { composer: string; state: string; record: { events: { id: string }[] } }[];
}

/** What the composers of the sessions of `default` have pending, read without the product's help. */
export async function readPendingFiles(controlDir: string): Promise<PendingFiles> {
  const root = join(controlDir, ".reyn", "agents", "default", "state", "sessions");
  const sessions = new Map<string, Set<string>>();
  const violations: string[] = [];
  for (const sid of await readdir(root).catch((): string[] => [])) {
    const names = await readdir(join(root, sid)).catch((): string[] => []);
    for (const name of names) {
      if (name.includes(".damaged-")) violations.push(`default/${sid}: ${name} was put aside`);
    }
    if (!names.includes("composer_pending.json")) continue;
    const text = await readFile(join(root, sid, "composer_pending.json"), "utf8");
    try {
      const { records } = JSON.parse(text) as Content;
      const ids = records.flatMap(({ composer, state, record }) =>
        record.events.map(({ id }) => state === "fired" ? id : `${composer}@${id}`)
      );
      sessions.set(`default/${sid}`, new Set(ids));
    } catch (error) {
      violations.push(`default/${sid}: composer_pending.json: ${String(error)}: ${text.slice(-100)}`);
    }
  }
  return { sessions, violations };
}
