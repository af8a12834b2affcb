import { Buffer } from "node:buffer";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMap } from "./shape.ts";

export interface LoggedEvent {
  type: string;
  session: unknown;
  data: unknown;
  timestamp: string;
}

export interface AuditLog {
  /** All events so far, in order. */
  read(): Promise<LoggedEvent[]>;
  /** Whole lines that were not JSON objects. */
  damaged(): number;
}

interface LogFile {
  offset: number;
  rest: Buffer;
  events: LoggedEvent[];
}

/**
 * Reads `.reyn/events/*.jsonl` as it grows. A line without its newline is not read yet. Events are ordered by their
 * time; under a test clock, where every process starts at the same instant, by process, in the order in which their
 * files appeared.
 */
export function auditLog(controlFolder: string, order: "time" | "process"): AuditLog {
  const folder = join(controlFolder, ".reyn", "events");
  const files = new Map<string, LogFile>();
  let damaged = 0;

  const readMore = async (name: string, file: LogFile): Promise<void> => {
    const handle = await open(join(folder, name), "r");
    try {
      const { size } = await handle.stat();
      if (size <= file.offset) return;
      const bytes = Buffer.alloc(size - file.offset);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, file.offset);
      file.offset += bytesRead;
      file.rest = Buffer.concat([file.rest, bytes.subarray(0, bytesRead)]);
    } finally {
      await handle.close();
    }
    const end = file.rest.lastIndexOf(10) + 1;
    for (const line of file.rest.subarray(0, end).toString("utf8").split("\n")) {
      if (line === "") continue;
      const event = parseEvent(line);
      if (event) file.events.push(event);
      else damaged++;
    }
    file.rest = file.rest.subarray(end);
  };

  return {
    damaged: () => damaged,
    async read() {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl")).sort();
      for (const name of names) {
        const file = files.get(name) ?? { offset: 0, rest: Buffer.alloc(0), events: [] };
        files.set(name, file);
        await readMore(name, file);
      }
      const all = [...files.values()].flatMap((file) => file.events);
      if (order === "process") return all;
      return all.map((event, index) => ({ event, index }))
        .sort((a, b) =>
          a.event.timestamp < b.event.timestamp
            ? -1
            : a.event.timestamp > b.event.timestamp
            ? 1
            : a.index - b.index
        )
        .map(({ event }) => event);
    },
  };
}

function parseEvent(line: string): LoggedEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isMap(value) || typeof value["type"] !== "string") return undefined;
    const timestamp = typeof value["timestamp"] === "string" ? value["timestamp"] : "";
    return { type: value["type"], session: value["session"], data: value["data"], timestamp };
  } catch {
    return undefined;
  }
}
