import process from "node:process";
import { duration, showSize, size } from "../config/scalars.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { collectGarbage, DEFAULT_RETENTION, type GcReport, type Retention } from "../runtime/gc.ts";
import { openBare } from "../runtime/open_bare.ts";
import { connectServer, errorOf } from "../server/client.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";

export interface GcVerbOptions {
  eventsAge: string | undefined;
  eventsSize: string | undefined;
  idsAge: string | undefined;
  setAsideAge: string | undefined;
  dry: boolean;
}

/** A message may be sent again by whoever had no answer; a day is the least that leaves room for that. */
const SHORTEST_IDS_MS = 24 * 3600_000;

/** `reyn gc`: through the server where one runs, else on the state folder itself. */
export async function gcVerb(globals: GlobalOptions, options: GcVerbOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const retention = retentionOf(options);
  const talk = (line: string) => {
    if (!globals.quiet) process.stderr.write(line);
  };
  const client = await connectServer(dir, host.ioClock);
  let report: GcReport;
  if (client) {
    const told = await client.post("/api/gc", { dry_run: options.dry, ...retention });
    const error = errorOf(Reflect.get(Object(told) as object, "error"));
    if (error) throw error;
    report = told as GcReport;
    talk(`through reyn serve, pid ${client.pid}\n`);
  } else {
    const bare = await openBare({ controlDir: dir, verb: "gc", host, talk });
    try {
      const { store, audit } = bare;
      const { clock, fault } = host;
      report = await collectGarbage({
        controlDir: dir,
        store,
        audit,
        clock,
        retention,
        dry: options.dry,
        fault,
      });
    } finally {
      await bare.close();
    }
  }
  process.stdout.write(globals.json ? `${JSON.stringify(report)}\n` : reportText(report));
  return EXIT.ok;
}

function retentionOf({ eventsAge, eventsSize, idsAge, setAsideAge }: GcVerbOptions): Retention {
  return {
    eventsMs: read("--events-age", eventsAge, duration(), DEFAULT_RETENTION.eventsMs),
    eventsBytes: read("--events-size", eventsSize, size(), DEFAULT_RETENTION.eventsBytes),
    idsMs: read("--ids-age", idsAge, duration({ min: SHORTEST_IDS_MS }), DEFAULT_RETENTION.idsMs),
    setAsideMs: read("--set-aside-age", setAsideAge, duration(), DEFAULT_RETENTION.setAsideMs),
  };
}

type Quantity = ReturnType<typeof duration>;

function read(flag: string, text: string | undefined, kind: Quantity, otherwise: number): number {
  if (text === undefined) return otherwise;
  const parsed = kind.safeParse(/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  if (parsed.success) return parsed.data;
  throw new ReynError("E_USAGE", `${flag}: ${parsed.error.issues[0]?.message ?? "cannot be read"}`, {
    exitCode: EXIT.usage,
  });
}

function reportText({ dry_run, events, ids, records, set_aside }: GcReport): string {
  const done = dry_run ? "would be removed" : "removed";
  const files = (one: { files: number; bytes: number }) =>
    `${one.files} files, ${shortSize(one.bytes)}, ${done}`;
  return [
    `audit log: ${files(events)}`,
    `ids of messages: ${ids} ${dry_run ? "would be forgotten" : "forgotten"}`,
    `log records behind snapshots: ${records} ${done}`,
    `set aside: ${files(set_aside)}`,
    "",
  ].join("\n");
}

function shortSize(bytes: number): string {
  const unit = [1024 ** 3, 1024 ** 2, 1024].find((one) => bytes >= one) ?? 1;
  return showSize(Math.round(bytes / unit) * unit);
}
