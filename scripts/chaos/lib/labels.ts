import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listFiles, REPO } from "../../lib/repo.ts";

/** Every label that the source marks, so that none is forgotten. */
export async function labelsInSource(): Promise<string[]> {
  const labels = new Set<string>();
  for (const file of await listFiles(join(REPO, "src"), { keep: (path) => path.endsWith(".ts") })) {
    const text = await readFile(join(REPO, "src", file), "utf8");
    for (const [, label] of text.matchAll(/\b(?:fault|killPoint)\(\s*"([a-z_]+:[a-z_]+)"/g)) {
      if (label) labels.add(label);
    }
  }
  return [...labels].sort();
}
