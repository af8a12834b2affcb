import type { Finding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { checkGrants } from "../sandbox/check_grants.ts";
import { resolveProgram } from "../sandbox/program.ts";
import type { ExecAction } from "./exec_action.ts";
import { policyOf } from "./run_exec.ts";
import { isPluginExec, type PluginExec } from "./run_plugin.ts";
import { grantedFolders } from "../sandbox/wasm/granted_folders.ts";
import { loadModule } from "../sandbox/wasm/load_module.ts";

/** Something about a command that only the disk tells; the path is relative to the hook's entry. */
export interface ExecFinding {
  path: (string | number)[];
  code: Finding["code"];
  message: string;
  fix?: string;
}

interface Around {
  controlDir: string;
  homes: readonly string[];
  denyRead: readonly string[];
  /** Every command that is declared. */
  commands: () => readonly ExecAction[];
}

/** What is wrong, or odd, with a hook's command and its grants as the disk stands now. */
export function checkExec(
  action: ExecAction,
  around: Around,
): ExecFinding[] {
  if (isPluginExec(action)) return checkPlugin(action, around);
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
  return [...found, ...grantFindings(action, argv, around)];
}

function grantFindings(action: ExecAction, argv: readonly string[], around: Around): ExecFinding[] {
  return checkGrants(policyOf(action, argv, around)).map(({ code, message, fix, subject }) => {
    const index = Number(/\[(\d+)\]$/.exec(subject ?? "")?.[1] ?? 0);
    return { path: ["write_paths", index], code, message, ...(fix === undefined ? {} : { fix }) };
  });
}

/** Reads the module and looks at it; nothing of it is run. */
function checkPlugin(action: PluginExec, around: Around): ExecFinding[] {
  const { file, export: exportName, memoryBytes, readPaths } = action.plugin;
  const loaded = loadModule(file, { controlDir: around.controlDir, exportName, memoryBytes });
  const found: ExecFinding[] = [];
  if (!loaded.ok) {
    const message = `${quote(file)} cannot be run: ${loaded.reason}`;
    found.push({ path: [action.scheme, 0], code: "W_PLUGIN_MODULE", message });
  }
  found.push(...grantFindings(action, [file], around));
  readPaths.forEach((text, i) => {
    const granted = grantedFolders({ readPaths: [text], writePaths: [] }, around);
    if (!granted.ok) {
      found.push({ path: ["read_paths", i], code: "W_GRANT_MISSING", message: granted.reason });
    }
  });
  return found;
}
