import { once } from "node:events";
import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { type ExportLine, exportSession } from "../runtime/export_session.ts";
import { withStoreForReading } from "../runtime/read_store.ts";
import { controlDir } from "./control_dir.ts";
import { outputFailed } from "./closed_output.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { VERSION } from "./version.ts";

const PIECE_CHARS = 256 * 1024;

/** `reyn sessions export ID`: JSON lines on stdout; with `--json` one JSON object. */
export async function exportSessionVerb(globals: GlobalOptions, text: string, host: Host): Promise<number> {
  const id = text.includes("/") ? text : `${globals.agent}/${text}`;
  const nowMs = host.clock.now();
  await withStoreForReading(controlDir(globals.dir), async ({ store, live }) => {
    const lines = exportSession({ store, id, live, reyn: VERSION, nowMs });
    await print(globals.json ? asObject(lines) : asLines(lines));
  }, { asOfOneInstant: true });
  return EXIT.ok;
}

async function* asLines(lines: AsyncIterable<ExportLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

/** `{…session, history: […], records: […], inbox: […]}`, an item a line, without ever holding all of it. */
async function* asObject(lines: AsyncIterable<ExportLine>): AsyncGenerator<string> {
  const lists = { history: "history", record: "records", inbox: "inbox" } as const;
  const order = Object.keys(lists) as (keyof typeof lists)[];
  let at = -1;
  let first = true;
  for await (const line of lines) {
    const { type, ...rest } = line;
    if (type === "session") {
      yield JSON.stringify(rest).slice(0, -1);
      continue;
    }
    const target = type === "end" ? order.length : order.indexOf(type);
    while (at < target) {
      if (at >= 0) yield "]";
      at += 1;
      first = true;
      const next = order[at];
      if (next) yield `,\n"${lists[next]}":[`;
    }
    if (type === "end") break;
    yield `${first ? "\n" : ",\n"}${JSON.stringify(rest)}`;
    first = false;
  }
  yield "}\n";
}

/** A reader that is slow is waited for; one that has gone ends it. */
async function print(texts: AsyncIterable<string>): Promise<void> {
  let piece = "";
  const out = async () => {
    if (!process.stdout.write(piece)) {
      await Promise.race([
        once(process.stdout, "drain"),
        once(process.stdout, "error"),
        once(process.stdout, "close"),
      ]);
    }
    piece = "";
  };
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARS) continue;
    await out();
    if (outputFailed()) return;
  }
  await out();
}
