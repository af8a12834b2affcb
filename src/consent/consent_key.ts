import path from "node:path";
import { quote } from "../errors/quote.ts";
import { contentHashes, type ContentHashesOptions } from "./content_hash.ts";
import { isOfProcess, lookAt, namesSystemFile, SYSTEM_FOLDERS } from "./covered_file.ts";
import { type CompileGlob, namedFiles } from "./named_files.ts";

/** What a hook may do beyond the floor. Paths are absolute with symlinks followed, so that a link that is turned elsewhere shows. */
export interface ConsentGrants {
  subprocess: boolean;
  /** A list: these hosts only. */
  network: boolean | readonly string[];
  writePaths: readonly string[];
  readPaths: readonly string[];
}

export interface ConsentRequest {
  /** The argv that runs: the file that `argv[0]` was resolved to, then the words as they are. */
  argv: readonly string[];
  /** The control folder, absolute. */
  cwd: string;
  grants: Omit<ConsentGrants, "readPaths"> & { readPaths?: readonly string[] };
  /** Names of the environment variables that are passed on. */
  envNames: readonly string[];
  /** A plugin's config: each name to the SHA-256 of its value in hex, since a value may be a secret. Default: none. */
  config?: Readonly<Record<string, string>>;
  /** The sandbox that confines it. */
  backend: string;
  /** `consent_files`: see `namedFiles`. */
  consentFiles: readonly string[];
  /** Files whose content the caller holds and will use: absolute path to its SHA-256 in hex. */
  contents?: Readonly<Record<string, string>>;
  /** Words of the argv whose files are not bound: what the command is there to write changes with each run. */
  unbound?: readonly string[];
}

/** All that an approval stands for, in canonical form: lists whose order means nothing are sorted and without repeats. */
export interface ConsentKey {
  argv: readonly string[];
  cwd: string;
  grants: ConsentGrants;
  envNames: readonly string[];
  backend: string;
  /** Sorted by name → the SHA-256 of the value in hex. */
  config: Readonly<Record<string, string>>;
  /** Absolute path, sorted → the SHA-256 of its content in hex, or `-> FILE` for a link to a system's file. */
  files: Readonly<Record<string, string>>;
}

export type ConsentKeyResult =
  /** `unmatched`: the patterns of `consent_files` that name no file. */
  | { ok: true; key: ConsentKey; unmatched: string[] }
  /** Consent cannot be bound to what would run. */
  | { ok: false; reason: string; fix: string };

export interface ConsentKeys {
  /** Looks at every file anew; one that is unchanged is not read again. Never throws. */
  compute(request: ConsentRequest): Promise<ConsentKeyResult>;
}

export interface ConsentKeysOptions extends ContentHashesOptions {
  /** For the parts of `consent_files`. */
  compileGlob: CompileGlob;
  /** Most bytes that one key covers. Default 1 GiB. */
  maxTotalBytes?: number;
  /** Folders whose files are the system's, which consent is not bound to. Default: /usr, /bin, /sbin, /lib, /lib32, /lib64, /libx32. */
  systemFolders?: readonly string[];
}

const FIX = "narrow consent_files, or run another file";

/**
 * Makes consent keys. A key tells what would run now; between then and the start of the program a file can still be
 * exchanged by whoever may write it. reyn's own tools, grants and steps never may (the files of an argv are read-only to them);
 * another program of the same account may, as it may write the allowlist. So compute it just before the run, and anew after
 * a person has taken time to answer.
 */
export function consentKeys(options: ConsentKeysOptions): ConsentKeys {
  const { compileGlob, maxTotalBytes = 1024 ** 3, systemFolders = SYSTEM_FOLDERS } = options;
  const hashes = contentHashes(options);

  return {
    async compute(request) {
      const { argv, cwd } = request;
      const covered = new Map<string, string>(Object.entries(request.contents ?? {}));
      let bytes = 0;
      const cover = async (file: string): Promise<string | undefined> => {
        if (covered.has(file)) return undefined;
        const look = lookAt(file, cwd, systemFolders);
        if (look.status === "none") return undefined;
        if (look.status === "refused") return `${quote(file, 200)}: ${look.reason}`;
        if (look.status === "link") {
          covered.set(file, look.value);
          return undefined;
        }
        const content = hashes.known(file) ?? await hashes.read(file);
        if (content.status === "none") return undefined;
        if (content.status === "refused") return `${quote(file, 200)}: ${content.reason}`;
        covered.set(file, content.sha256);
        bytes += content.size;
        return bytes > maxTotalBytes ? `its files hold more than ${maxTotalBytes} bytes` : undefined;
      };

      if (isOfProcess(path.resolve(cwd, argv[0] ?? ""))) {
        return refused(`${quote(argv[0] ?? "", 200)} is another program in each process`);
      }
      for (const word of argv) {
        if (word === "" || word.includes("\0") || request.unbound?.includes(word)) continue;
        const file = path.resolve(cwd, word);
        const problem = namesSystemFile(file, systemFolders) ? undefined : await cover(file);
        if (problem !== undefined) return refused(problem);
      }
      const unmatched: string[] = [];
      for (const pattern of request.consentFiles) {
        const named = await namedFiles(pattern, { cwd, compileGlob });
        if (!named.ok) return refused(`consent_files ${quote(pattern)} ${named.reason}`);
        if (named.files.length === 0) unmatched.push(pattern);
        for (const file of named.files) {
          const problem = await cover(file);
          if (problem !== undefined) return refused(problem);
        }
      }
      return { ok: true, key: canonicalKey({ ...request, files: Object.fromEntries(covered) }), unmatched };
    },
  };
}

/** Brings a key into its canonical form. */
export function canonicalKey(
  key: Omit<ConsentRequest, "consentFiles" | "unbound" | "contents"> & {
    files: Readonly<Record<string, string>>;
  },
): ConsentKey {
  const { subprocess, network, writePaths, readPaths = [] } = key.grants;
  return {
    argv: [...key.argv],
    cwd: key.cwd,
    grants: {
      subprocess,
      network: typeof network === "boolean" ? network : sorted(network),
      writePaths: sorted(writePaths),
      readPaths: sorted(readPaths),
    },
    envNames: sorted(key.envNames),
    backend: key.backend,
    config: sortedByName(key.config ?? {}),
    files: sortedByName(key.files),
  };
}

/** Equal for equal keys and only for them. */
export function keyText(key: ConsentKey): string {
  const { subprocess, network, writePaths, readPaths } = key.grants;
  return JSON.stringify([
    key.argv,
    key.cwd,
    [subprocess, network, writePaths, readPaths],
    key.envNames,
    key.backend,
    Object.entries(key.files),
    Object.entries(key.config),
  ]);
}

export function isSameKey(a: ConsentKey, b: ConsentKey): boolean {
  return keyText(a) === keyText(b);
}

function sortedByName(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => a < b ? -1 : 1));
}

function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort();
}

function refused(reason: string): ConsentKeyResult {
  return { ok: false, reason: `consent cannot be bound to what would run: ${reason}`, fix: FIX };
}
