import { fileURLToPath } from "node:url";
import process from "node:process";

/**
 * The words that start this very program again, absolute: the compiled binary, or the runtime with the source's entry. Arguments follow.
 */
export function selfCommand(): readonly [string, ...string[]] {
  const entry = new URL("../main.ts", import.meta.url);
  const { bun } = process.versions;
  if (bun !== undefined) {
    // What Bun compiled lies in a file system of its own, inside the binary.
    const isCompiled = entry.pathname.startsWith("/$bunfs/") || entry.href.includes("/~BUN/");
    return isCompiled ? [process.execPath] : [process.execPath, fileURLToPath(entry)];
  }
  if (isDenoStandalone()) return [process.execPath];
  const options = ["run", "--quiet", "--allow-all", "--no-prompt", "--no-check", "--cached-only"];
  return [process.execPath, ...options, fileURLToPath(entry)];
}

function isDenoStandalone(): boolean {
  const deno: unknown = Reflect.get(globalThis, "Deno");
  const build: unknown = typeof deno === "object" && deno !== null ? Reflect.get(deno, "build") : undefined;
  return typeof build === "object" && build !== null && Reflect.get(build, "standalone") === true;
}
