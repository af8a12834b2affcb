import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoPath } from "../lib/deno_path.ts";
import { REPO } from "../lib/repo.ts";
import { runProcess } from "../lib/run_process.ts";

const PLUGINS = join(REPO, "plugins");
const MODULE = join(REPO, "src/runtime/plugin_templates.ts");

/** The name of each constant, and the file of `plugins/` that it holds. */
const TEMPLATES = [
  ["PLUGIN_TS", "template/plugin.ts.eta"],
  ["PLUGIN_C", "template/plugin.c.eta"],
  ["BUILD_ASSEMBLYSCRIPT", "template/build_assemblyscript.sh.eta"],
  ["BUILD_C", "template/build_c.sh.eta"],
  ["REYN_TS", "assemblyscript/reyn.ts"],
  ["JSON_TS", "assemblyscript/json.ts"],
  ["REYN_H", "c/reyn.h"],
] as const;

/** The module that carries the templates in the binary: as it is committed, and as it has to be. */
export async function embeddedTemplates(): Promise<{ committed: string; fresh: string }> {
  const lines = ["// Written by scripts/plugins.ts from plugins/; do not edit."];
  const { devDependencies } = JSON.parse(await readFile(join(REPO, "package.json"), "utf8"));
  lines.push(`export const ASSEMBLYSCRIPT_VERSION = ${JSON.stringify(devDependencies.assemblyscript)};`);
  for (const [name, file] of TEMPLATES) {
    const text = await readFile(join(PLUGINS, file), "utf8");
    lines.push(`export const ${name} =`, `  ${JSON.stringify(text)};`);
  }
  const committed = await readFile(MODULE, "utf8").catch(() => "");
  return { committed, fresh: await formatted(`${lines.join("\n")}\n`) };
}

async function formatted(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "reyn-templates-"));
  try {
    const file = join(folder, "templates.ts");
    await writeFile(file, text);
    const { code, output } = await runProcess(await denoPath(), [
      "fmt",
      "--quiet",
      "--config",
      join(REPO, "deno.json"),
      file,
    ]);
    if (code !== 0) throw new Error(`deno fmt failed:\n${output}`);
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function writeTemplates(): Promise<void> {
  await writeFile(MODULE, (await embeddedTemplates()).fresh);
}
