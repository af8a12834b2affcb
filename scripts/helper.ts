import { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { embed, readEmbedded, sha256 } from "./helper/embedded.ts";
import { build, sourceDigest, TARGETS } from "./helper/toolchain.ts";

/**
 * `deno task helper`: builds the sandbox's helper for both architectures and embeds the bytes. With `--check` nothing is written: the
 * rebuilt bytes have to be the committed ones. Exit 1 when they are not, or when a compiler is missing.
 */
const { values } = parseArgs({ args: argv.slice(2), options: { check: { type: "boolean" } } });
const digest = await sourceDigest();
let failed = 0;
for (const target of TARGETS) {
  try {
    const bytes = await build(target);
    if (!values.check) await embed(target, bytes, digest);
    const committed = await readEmbedded(target);
    const problems = [
      ...(committed.sourceDigest === digest ? [] : ["the committed bytes are of another source"]),
      ...(sha256(committed.bytes) === committed.sha256
        ? []
        : ["the committed bytes do not have their own sha256"]),
      ...(sha256(bytes) === committed.sha256 ? [] : [`a rebuild gives ${sha256(bytes)}`]),
    ];
    if (problems.length > 0) failed += 1;
    console.log(`${target.name} ${bytes.length} bytes ${committed.sha256} ${problems.join(", ") || "ok"}`);
  } catch (error) {
    failed += 1;
    console.log(`${target.name} ${error instanceof Error ? error.message : String(error)}`);
  }
}
if (failed > 0 && values.check) console.log("run `deno task helper` and commit what it writes");
exit(failed > 0 ? 1 : 0);
