import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { isMapping } from "../config/path.ts";

export type Resolved = { ok: true; file: string } | { ok: false; reason: string };

const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs"];
const CONDITIONS = new Set(["import", "node", "module", "default"]);

/** The real file of a path. */
export function resolveFile(path: string): Resolved {
  try {
    const file = realpathSync(path);
    return statSync(file).isFile() ? { ok: true, file } : { ok: false, reason: `${path} is not a file` };
  } catch {
    return { ok: false, reason: `there is no file ${path}` };
  }
}

/**
 * The file of a package that lies in a `node_modules` of this folder or one above it: never looked for from the working
 * directory. Read here and not by the runtimes, whose compiled programs do not read `exports`.
 */
export function resolvePackage(specifier: string, folder: string): Resolved {
  if (isBuiltin(specifier)) {
    return { ok: false, reason: `${specifier} is a part of the runtime, not a package` };
  }
  const parts = specifier.split("/");
  const name = parts.splice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  const subpath = parts.join("/");
  for (let at = folder;; at = dirname(at)) {
    const root = join(at, "node_modules", name);
    if (existsSync(root)) return fileOf(root, specifier, subpath);
    if (dirname(at) === at) {
      return { ok: false, reason: `there is no package ${name} in ${folder} or above it` };
    }
  }
}

function fileOf(root: string, specifier: string, subpath: string): Resolved {
  const manifest = manifestOf(root);
  const { exports, module, main } = manifest;
  if (exports !== undefined && exports !== null) {
    const target = exported(exports, subpath === "" ? "." : `./${subpath}`);
    if (target?.startsWith("./") && !target.split("/").includes("..")) return resolveFile(join(root, target));
    return { ok: false, reason: `the package of ${specifier} does not export it` };
  }
  const wanted = subpath !== ""
    ? [subpath]
    : [...[module, main].filter((path) => typeof path === "string"), "index"];
  for (const path of wanted.flatMap((one) => [...ENDINGS.map((ending) => one + ending), `${one}/index.js`])) {
    const found = resolveFile(join(root, path));
    if (found.ok) return found;
  }
  return { ok: false, reason: `there is no file for ${specifier} in ${root}` };
}

function manifestOf(root: string): Record<string, unknown> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    return isMapping(manifest) ? manifest : {};
  } catch {
    return {};
  }
}

/** What an `exports` field gives for a subpath such as `.` or `./sub`; patterns with one `*` are followed. */
function exported(exports: unknown, subpath: string): string | undefined {
  const table = isMapping(exports) && Object.keys(exports).some((key) => key.startsWith("."))
    ? exports
    : { ".": exports };
  if (Object.hasOwn(table, subpath)) return conditional(table[subpath]);
  for (const [key, value] of Object.entries(table)) {
    const [before = "", after] = key.split("*");
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue;
    const middle = subpath.slice(before.length, subpath.length - after.length);
    return conditional(value)?.replaceAll("*", middle);
  }
  return undefined;
}

/** The first condition that holds for an import, in the order written. */
function conditional(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(conditional).find((target) => target !== undefined);
  if (!isMapping(value)) return undefined;
  for (const [condition, inner] of Object.entries(value)) {
    const target = CONDITIONS.has(condition) ? conditional(inner) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}
