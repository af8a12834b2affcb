import { accessSync, constants } from "node:fs";
import path from "node:path";
import { quote } from "../errors/quote.ts";
import { guardedPaths } from "./guarded_paths.ts";
import { canonicalPath, expandPath, isUnder } from "./paths.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { Denial, DeniedCounts } from "./result.ts";

export interface DenialFacts {
  policy: SandboxPolicy;
  cwd: string;
  denied: DeniedCounts | null;
  stderrTail: string;
  /** Programs name themselves and their script when they complain. */
  argv: readonly string[];
}

/** Words that programs use for EACCES, EPERM, EROFS and EXDEV. */
const REFUSED =
  /permission denied|operation not permitted|read-only file system|invalid cross-device link|EACCES|EPERM|EROFS/i;
/** Parts of a line that may be paths: quoted, or a run without blanks. */
const PATH_LIKE = /'([^']+)'|‘([^’]+)’|"([^"]+)"|`([^`']+)'|([^\s'"`:;,()[\]]+)/g;
/** Lines of stderr that are looked at, from the end. */
const MOST_LINES = 40;
const LONGEST_LINE = 2000;
/** Who complains stands before it, or, with perl, after it. */
const SPEAKER_BEFORE = /^([^\s:]+):/;
const SPEAKER_BEHIND = / at (\S+) line \d+\.?$/;

/** Why a run that failed was stopped by its sandbox, or null. A run that succeeded is not to be asked about. */
export function explainDenial(facts: DenialFacts): Denial | null {
  const { denied, policy } = facts;
  const { grants } = policy;
  if (denied && denied.fork > 0) {
    return counted("fork_denied", `it tried to start a process, with ${axis("subprocess", false)}`);
  }
  if (denied && denied.forkBudget > 0) {
    return counted("fork_denied", "it had as many processes as may live at once, with subprocess: true");
  }
  if (denied && denied.inet + denied.socket > 0) {
    const message = grants.network
      ? "it tried a kind of socket that network: true does not open"
      : `it tried to use the network, with ${axis("network", false)}`;
    return counted("network_denied", message);
  }
  const named = fromStderr(facts);
  if (named) return named;
  if (denied && denied.metadata > 0) {
    return counted(
      "write_denied",
      `it tried to change the mode, owner, times or attributes of a file, with ${writing(policy)}`,
    );
  }
  return null;
}

function counted(denialClass: Denial["class"], message: string): Denial {
  return { class: denialClass, attribution: "counted", message };
}

function axis(key: "subprocess" | "network", value: boolean): string {
  return `${key}: ${value} in force (${key}: true on the hook opens it)`;
}

function writing({ grants }: SandboxPolicy): string {
  const list = grants.writePaths.map((file) => quote(file)).join(", ");
  return `write_paths: [${list}] in force (write_paths on the hook opens more)`;
}

function fromStderr({ policy, cwd, stderrTail, argv }: DenialFacts): Denial | null {
  const standing = guardedPaths(policy);
  const granted = policy.grants.writePaths.flatMap((text) => expandPath(text, policy)).map(canonicalPath);
  const lines = stderrTail.split("\n").slice(-MOST_LINES).filter((line) => REFUSED.test(line));
  const code = new Set(policy.readOnly.flatMap((text) => expandPath(text, policy)));
  const own = new Set(argv.map((word) => path.resolve(cwd, word)));
  for (const line of lines) {
    const complaint = withoutSpeaker(line.slice(0, LONGEST_LINE), (word) => own.has(path.resolve(cwd, word)));
    // What is complained about stands last.
    const files = [...pathsIn(complaint, cwd)].reverse();
    for (const file of files) {
      const where = standing(file);
      if (where.at === "inside" && where.guard === "denied") {
        return heuristic(
          "read_denied",
          file,
          `${quote(where.guarded)} is closed to every hook, and no key opens it`,
        );
      }
      if (where.at === "inside") {
        return heuristic(
          "write_denied",
          file,
          `${quote(where.guarded)} is ${
            code.has(where.guarded) ? "what a hook runs, and " : ""
          }never writable, and no key opens it`,
        );
      }
      const canonical = canonicalPath(file);
      const writable = where.at === "free" && granted.some((folder) => isUnder(canonical, folder));
      // What reyn itself may not use is refused by the system's ordinary rules.
      if (!writable && isWritableOutside(canonical)) return heuristic("write_denied", file, writing(policy));
    }
  }
  return null;
}

function heuristic(denialClass: Denial["class"], file: string, because: string): Denial {
  return {
    class: denialClass,
    attribution: "heuristic",
    path: file,
    message: `${quote(file)} was refused: ${because}`,
  };
}

/** A program's own file is what it complains about only when it names it once more. */
function withoutSpeaker(line: string, isOwn: (word: string) => boolean): string {
  const before = SPEAKER_BEFORE.exec(line);
  const start = before?.[1] !== undefined && isOwn(before[1]) ? before[0].length : 0;
  const behind = SPEAKER_BEHIND.exec(line);
  const end = behind?.[1] !== undefined && isOwn(behind[1]) ? behind.index : line.length;
  return line.slice(start, Math.max(start, end));
}

function* pathsIn(line: string, cwd: string): Generator<string> {
  for (const match of line.matchAll(PATH_LIKE)) {
    const text = match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5];
    if (text === undefined || !/[\w]/.test(text) || text.includes("\0")) continue;
    const file = path.resolve(cwd, text);
    // A bare word is a path only when there is, or could be, something of that name here.
    const isBareWord = match[5] !== undefined && !text.includes("/");
    if (isBareWord && !exists(file)) continue;
    yield file;
  }
}

function exists(file: string): boolean {
  try {
    accessSync(file, constants.F_OK);
    return true;
  } catch {
    return false;
  }
}

function isWritableOutside(file: string): boolean {
  const target = exists(file) ? file : path.dirname(file);
  try {
    accessSync(target, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
