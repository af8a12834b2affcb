import type { Finding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { checkGrants } from "../sandbox/check_grants.ts";
import { resolveProgram } from "../sandbox/program.ts";
import type { ExecAction } from "./exec_action.ts";
import { policyOf } from "./run_exec.ts";

/** Something about a command that only the disk tells; the path is relative to the hook's entry. */
export interface ExecFinding {
  path: (string | number)[];
  code: Finding["code"];
  message: string;
  fix?: string;
}

/** What is wrong, or odd, with a hook's command and its grants as the disk stands now. */
export function checkExec(
  action: ExecAction,
  around: { controlDir: string; homes: readonly string[]; denyRead: readonly string[] },
): ExecFinding[] {
  const found: ExecFinding[] = [];
  const name = action.argv[0] ?? "";
  const program = resolveProgram(name, { controlDir: around.controlDir });
  const at = [action.scheme, 0];
  if (!program.ok) {
    found.push({
      path: at,
      code: "W_EXEC_PROGRAM",
      message: `${quote(name)} cannot be started: ${program.reason}`,
    });
  } else if (program.warning !== undefined && !action.grants.subprocess) {
    found.push({ path: at, code: "W_EXEC_SHIM", message: program.warning });
  }
  const argv = [program.ok ? program.file : name, ...action.argv.slice(1)];
  for (const { code, message, fix, subject } of checkGrants(policyOf(action, argv, around))) {
    const index = Number(/\[(\d+)\]$/.exec(subject ?? "")?.[1] ?? 0);
    found.push({ path: ["write_paths", index], code, message, ...(fix === undefined ? {} : { fix }) });
  }
  return found;
}
