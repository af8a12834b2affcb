import { realpathSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { shownCommand } from "../consent/shown_command.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { schemaText } from "../runtime/schema_files.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";
import { INIT_CONFIG, INIT_GITIGNORE } from "./init_text.ts";
import { isThere, writeNew } from "./write_new.ts";

const CONFIG = "reyn.yaml";

/** `reyn init`: writes a configuration to begin with, and nothing over anything. */
export async function initVerb(globals: GlobalOptions): Promise<number> {
  const dir = realpathSync(controlDir(globals.dir));
  if (isThere(join(dir, CONFIG))) throw alreadyThere(dir);
  // The configuration comes last: as long as it is not there, init can be run again.
  const files = [
    [".reyn/schema.json", schemaText("startup")],
    [".reyn/.gitignore", INIT_GITIGNORE],
    [CONFIG, INIT_CONFIG],
  ] as const;
  const wrote: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of files) {
    if (writeNew(join(dir, name), text)) wrote.push(name);
    else if (name === CONFIG) throw alreadyThere(dir);
    else kept.push(name);
  }
  const next = nextCommands(globals.dir);
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ folder: dir, wrote, kept, next })}\n`);
    return EXIT.ok;
  }
  const lines = [...wrote.map((name) => `wrote ${name}`), ...kept.map((name) => `kept ${name}`)];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (!globals.quiet) process.stderr.write(`\nnext:\n${next.map((line) => `  ${line}`).join("\n")}\n`);
  return EXIT.ok;
}

function nextCommands(dir: string): string[] {
  const where = dir === "." ? "" : ` -C ${shownCommand([dir])}`;
  return [`reyn check${where}`, `reyn run${where} "hello"`, `reyn events${where}`];
}

function alreadyThere(dir: string): ReynError {
  return new ReynError("E_INIT_EXISTS", `${escapeVisible(dir)} has a ${CONFIG}, which is not overwritten`, {
    fix: "`reyn check` tells whether it is right",
  });
}
