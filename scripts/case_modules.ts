import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { argv, exit } from "node:process";
import wabt from "wabt";
import { listFiles, REPO } from "./lib/repo.ts";

/**
 * `deno run -A scripts/case_modules.ts [--check]`: assembles each module in text form (`x.wat`) below test/cases into `x.wasm` beside it;
 * with --check only says which of them are not what they should be.
 */
export async function caseModules({ write }: { write: boolean }): Promise<string[]> {
  const folder = join(REPO, "test", "cases");
  const tools = await wabt();
  const stale: string[] = [];
  for (const file of await listFiles(folder)) {
    if (!file.endsWith(".wat")) continue;
    const text = await readFile(join(folder, file), "utf8");
    const module = tools.parseWat(file, text, { memory64: true });
    const bytes = Uint8Array.from(module.toBinary({}).buffer);
    module.destroy();
    const target = join(folder, file.replace(/\.wat$/, ".wasm"));
    const present = await readFile(target).catch(() => undefined);
    if (present && present.length === bytes.length && bytes.every((byte, i) => byte === present[i])) continue;
    stale.push(file);
    if (write) await writeFile(target, bytes);
  }
  return stale;
}

if (import.meta.main) {
  const check = argv.includes("--check");
  const stale = await caseModules({ write: !check });
  for (const file of stale) console.log(`${check ? "stale" : "written"}: ${file}`);
  exit(check && stale.length > 0 ? 1 : 0);
}
