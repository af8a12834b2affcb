import { stat } from "node:fs/promises";
import { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { build } from "./build/build.ts";

/** `deno task compile [--with=bun|deno] [--force]`: makes dist/reyn and dist/reyn-test. */
const { values } = parseArgs({
  args: argv.slice(2),
  options: { with: { type: "string" }, force: { type: "boolean", default: false } },
});
const compiler = values.with;
if (compiler !== undefined && compiler !== "bun" && compiler !== "deno") {
  console.error(`--with=${compiler}: bun or deno`);
  exit(2);
}
try {
  const started = performance.now();
  const result = await build({ force: values.force, ...(compiler ? { with: compiler } : {}) });
  for (const file of result.files) {
    console.log(`${file}  ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    result.unchanged
      ? `unchanged since the last build (${result.compiler})`
      : `${result.compiler}, ${seconds} s`,
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  exit(1);
}
