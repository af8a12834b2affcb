import { argv, exit } from "node:process";
import { checkLayers } from "./layers/check.ts";
import { REPO } from "./lib/repo.ts";

/** `deno run scripts/check_layers.ts [ROOT]`: prints what breaks the arrows between rooms; exit 1 when something does. */
const { findings, files } = await checkLayers(argv[2] ?? REPO);
for (const { file, line, message } of findings) console.log(`${file}:${line} ${message}`);
console.log(`${files} files, ${findings.length} findings`);
if (files === 0) console.log("no source found");
exit(findings.length > 0 || files === 0 ? 1 : 0);
