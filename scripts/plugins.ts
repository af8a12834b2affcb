import { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { buildExample, EXAMPLES, readCommitted, writeBuilt } from "./plugins/examples.ts";
import { embeddedTemplates, writeTemplates } from "./plugins/templates.ts";

/**
 * `deno task plugins`: builds the example plugins, and embeds what `reyn init plugin` writes. With `--check` nothing is written: what is
 * rebuilt has to be what is committed. Exit 1 when it is not, or when a compiler is missing.
 */
const { values } = parseArgs({ args: argv.slice(2), options: { check: { type: "boolean" } } });
let failed = 0;
for (const name of EXAMPLES) {
  const built = await buildExample(name);
  if (built.ok && !values.check) await writeBuilt(name, built.bytes);
  const committed = await readCommitted(name);
  const problem = built.ok
    ? committed?.equals(built.bytes) ? undefined : "a rebuild gives other bytes"
    : built.problem;
  if (problem !== undefined) failed += 1;
  console.log(`${name} ${committed?.length ?? 0} bytes ${problem ?? "ok"}`);
}
if (!values.check) await writeTemplates();
const { committed, fresh } = await embeddedTemplates();
if (committed !== fresh) failed += 1;
console.log(`templates ${committed === fresh ? "ok" : "the embedded ones are not those of plugins/"}`);
if (failed > 0 && values.check) console.log("run `deno task plugins` and commit what it writes");
exit(failed > 0 ? 1 : 0);
