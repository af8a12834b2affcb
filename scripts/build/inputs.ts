import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listFiles, REPO } from "../lib/repo.ts";

/** The two programs: the shipped one, and the one whose clock and kill points tests drive. */
export const PROGRAMS = [
  { name: "reyn", entry: "src/main.ts" },
  { name: "reyn-test", entry: "src/test_main.ts" },
] as const;

export type Program = (typeof PROGRAMS)[number];

/** One hash over everything that a binary is made of, the build scripts and the compiler's own name included. */
export async function hashInputs(compiler: string, root: string = REPO): Promise<string> {
  const files = [
    ...["package.json", "deno.json", "deno.lock", "mod.ts", "sdk.ts"],
    ...(await listFiles(join(root, "src"))).map((file) => `src/${file}`),
    ...(await listFiles(join(root, "scripts", "build"))).map((file) => `scripts/build/${file}`),
  ];
  const hash = createHash("sha256").update(compiler);
  for (const file of files) {
    const bytes = await readFile(join(root, file)).catch(() => undefined);
    if (bytes) hash.update(`\0${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}
