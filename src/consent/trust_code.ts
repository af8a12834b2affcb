import path from "node:path";
import { findExecutable } from "../adapter/executable.ts";
import { quote } from "../errors/quote.ts";
import type { ContentHashes, FileContent } from "./content_hash.ts";
import { isOfProcess, lookAt, namesSystemFile } from "./covered_file.ts";

export type TrustCode = { ok: true; code: Record<string, string> } | { ok: false; reason: string };

export interface CodeAround {
  /** The control folder, canonical. */
  folder: string;
  /** The value of PATH, in which a bare program name is looked up. */
  searchPath: string | undefined;
}

/** The content of each code file that some argvs name, read at once. */
export function codeNow(
  argvs: readonly (readonly string[])[],
  around: CodeAround,
  hashes: ContentHashes,
): TrustCode {
  const problem = programProblem(argvs, around);
  if (problem) return problem;
  return collect(
    named(argvs, around).map((file) => [file, contentOf(file, around.folder) ?? hashes.readNow(file)]),
  );
}

/** As `codeNow`, with other work going on while files are read. */
export async function codeOf(
  argvs: readonly (readonly string[])[],
  around: CodeAround,
  hashes: ContentHashes,
): Promise<TrustCode> {
  const problem = programProblem(argvs, around);
  if (problem) return problem;
  const read: [string, FileContent | Linked][] = [];
  for (const file of named(argvs, around)) {
    read.push([file, contentOf(file, around.folder) ?? hashes.known(file) ?? await hashes.read(file)]);
  }
  return collect(read);
}

function programProblem(
  argvs: readonly (readonly string[])[],
  { folder }: CodeAround,
): TrustCode | undefined {
  const odd = argvs.flatMap(([name = ""]) => name).find((name) => isOfProcess(path.resolve(folder, name)));
  if (odd === undefined) return undefined;
  return { ok: false, reason: `${quote(odd, 200)} is another program in each process` };
}

interface Linked {
  status: "link";
  value: string;
}

/** The absolute names of an argv's words, the program as it would be found, but for the system's own. */
function named(argvs: readonly (readonly string[])[], { folder, searchPath }: CodeAround): string[] {
  const files = new Set<string>();
  for (const [name = "", ...rest] of argvs) {
    const program = findExecutable(name, folder, searchPath);
    for (const word of [program.ok ? program.file : name, ...rest]) {
      if (word === "" || word.includes("\0")) continue;
      const file = path.resolve(folder, word);
      if (!namesSystemFile(file)) files.add(file);
    }
  }
  return [...files].sort();
}

/** What counts for a file, where that is not its content. */
function contentOf(
  file: string,
  base: string,
): Exclude<FileContent, { status: "file" }> | Linked | undefined {
  const look = lookAt(file, base);
  return look.status === "content" ? undefined : look;
}

function collect(read: readonly [string, FileContent | Linked][]): TrustCode {
  const code: Record<string, string> = {};
  for (const [file, content] of read) {
    if (content.status === "refused") return { ok: false, reason: `${quote(file, 200)}: ${content.reason}` };
    if (content.status === "file") code[file] = content.sha256;
    if (content.status === "link") code[file] = content.value;
  }
  return { ok: true, code };
}
