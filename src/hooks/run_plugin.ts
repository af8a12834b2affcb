import { createHash } from "node:crypto";
import type { ConsentRequest } from "../consent/consent_key.ts";
import { canonicalPath, expandPath } from "../sandbox/paths.ts";
import { type LoadedModule, loadModule } from "../sandbox/wasm/load_module.ts";
import type { PluginCall } from "../sandbox/wasm/plugin_host.ts";
import type { DeniedAxis } from "../sandbox/wasm/protocol.ts";
import type { PluginResult } from "../sandbox/wasm/result.ts";
import { DEFAULT_PLUGIN_LIMITS } from "../sandbox/wasm/limits.ts";
import { codeOfHooks } from "./code_files.ts";
import { parseDirective } from "./directive.ts";
import type { ExecAction, PluginAction } from "./exec_action.ts";
import { directiveResult, type ExecFiring, type ExecPorts, type ExecResult, inHome } from "./exec_ports.ts";
import { type ExecRecords, execRecords } from "./exec_records.ts";
import type { Hook } from "./hook.ts";
import { runWhenAllowed } from "./run_when_allowed.ts";

/** An action that runs a plugin. */
export type PluginExec = ExecAction & { plugin: PluginAction };

export function isPluginExec(action: ExecAction): action is PluginExec {
  return action.plugin !== null;
}

type Loaded = Extract<LoadedModule, { ok: true }>;

/** The module of each hook, from its first use on: a file that is replaced counts once the configuration is read again. */
const loadedModules = new WeakMap<ExecAction, Loaded>();
/** Characters of a plugin's own words that a person is shown. */
const MOST_SAID = 500;

/** Runs a hook's plugin: module, consent, then the call, then what its output asks for. Never throws. */
export async function runPlugin(
  hook: Hook,
  action: PluginExec,
  firing: ExecFiring,
  ports: ExecPorts,
): Promise<ExecResult> {
  const records = execRecords(hook, action, firing, ports);
  const loaded = loadedModules.get(action) ?? loadFor(action, ports.controlDir);
  if (!loaded.ok) return records.launchFailed(action.plugin.file, loaded.reason);
  loadedModules.set(action, loaded);
  return await runWhenAllowed(hook, action, firing, ports, {
    records,
    request: () => pluginConsent(action, loaded, ports),
    async run(consent) {
      const result = await ports.plugins().call(callOf(hook, action, loaded, firing, ports));
      return concluded(hook, action, firing, ports, { result, records, consent });
    },
  });
}

interface Ended {
  result: PluginResult;
  records: ExecRecords;
  consent: string;
}

function concluded(
  hook: Hook,
  action: PluginExec,
  firing: ExecFiring,
  ports: ExecPorts,
  { result, records, consent }: Ended,
): ExecResult {
  recordDenials(hook, firing, ports, result);
  const { outcome } = result;
  if (outcome === "sandbox_unconfirmed") {
    return records.refused("sandbox_unconfirmed", result.reason ?? "it could not be confirmed");
  }
  if (outcome === "disabled") {
    return records.refused("plugin_disabled", result.reason ?? "it failed too often");
  }
  const directive = action.scheme === "exec_capture" && outcome === "ok"
    ? parseDirective(result.output)
    : undefined;
  const denial = outcome === "ok" ? undefined : result.denied[0];
  records.ended({
    returncode: result.returncode,
    denial: denial && { class: DENIAL_CLASS[denial.axis], attribution: "counted" },
    outcome: directive?.status === "bad" ? "bad_directive" : outcome,
    durationMs: result.durationMs,
    consent,
  });
  if (result.disables) {
    const faults = ports.plugins().faults(ownerOf(hook, firing));
    ports.audit.emit("plugin_disabled", firing.session, { hook: hook.label, faults, outcome });
    ports.warn(`hook ${hook.label}: its plugin failed ${faults} times in a row and is not called any more`);
  }
  return outcome === "ok" ? directiveResult(directive) : failure(result);
}

function recordDenials(hook: Hook, firing: ExecFiring, ports: ExecPorts, result: PluginResult): void {
  for (const { axis, target, reason } of result.denied) {
    ports.audit.emit("plugin_denied", firing.session, { hook: hook.label, axis, target, reason });
  }
  const [first] = result.denied;
  if (!first || result.deniedMore === 0) return;
  const reason = `${result.deniedMore} more attempts of this call were refused`;
  ports.audit.emit("plugin_denied", firing.session, {
    hook: hook.label,
    axis: first.axis,
    target: "",
    reason,
  });
}

function loadFor(action: PluginExec, controlDir: string): LoadedModule {
  const { file, export: exportName, memoryBytes } = action.plugin;
  return loadModule(file, { controlDir, exportName, memoryBytes });
}

const DENIAL_CLASS: Readonly<Record<DeniedAxis, string>> = {
  network: "network_denied",
  read: "read_denied",
  write: "write_denied",
};

/** Computed at the first use, since consent is looked up at each call. */
const configHashes = new WeakMap<PluginAction, Readonly<Record<string, string>>>();

function hashedConfig(plugin: PluginAction): Readonly<Record<string, string>> {
  const known = configHashes.get(plugin);
  if (known) return known;
  const hashed = Object.fromEntries(
    Object.entries(plugin.config).map((
      [name, value],
    ) => [name, createHash("sha256").update(value).digest("hex")]),
  );
  configHashes.set(plugin, hashed);
  return hashed;
}

/** What an approval of a plugin is bound to: the bytes that are run, the export, its config and the grants. */
export function pluginConsent(
  action: PluginExec,
  { file, module }: Pick<Loaded, "file" | "module">,
  { controlDir, homes }: Pick<ExecPorts, "controlDir" | "homes">,
): ConsentRequest {
  const base = { controlDir, homes };
  const folders = (paths: readonly string[]) =>
    paths.flatMap((text) => expandPath(inHome(text, homes), base)).map(canonicalPath);
  return {
    argv: [`${file}#${action.plugin.export}`, ...action.argv.slice(1)],
    cwd: controlDir,
    grants: {
      subprocess: false,
      network: action.plugin.network,
      writePaths: folders(action.grants.writePaths),
      readPaths: folders(action.plugin.readPaths),
    },
    envNames: action.envNames,
    backend: "wasm",
    config: hashedConfig(action.plugin),
    consentFiles: action.consentFiles.map((text) => inHome(text, homes)),
    contents: { [file]: module.hash },
    unbound: action.argv.slice(1),
  };
}

/** Hooks of agents and sessions may be called alike. */
function ownerOf(hook: Hook, { session }: ExecFiring): string {
  switch (hook.layer) {
    case "agent":
      return `agent ${session.split("/")[0]}:${hook.label}`;
    case "session":
      return `session ${session}:${hook.label}`;
    default:
      return `${hook.layer}:${hook.label}`;
  }
}

function callOf(
  hook: Hook,
  action: PluginExec,
  loaded: Loaded,
  firing: ExecFiring,
  ports: ExecPorts,
): PluginCall {
  const { plugin } = action;
  const args = action.argv.slice(1);
  const named = action.envNames.flatMap((name): [string, string][] => {
    const value = ports.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    owner: ownerOf(hook, firing),
    module: loaded.module,
    export: plugin.export,
    input: new TextEncoder().encode(JSON.stringify(firing.payload)),
    limits: {
      timeoutMs: action.timeoutMs,
      memoryBytes: plugin.memoryBytes,
      outputBytes: action.scheme === "exec_capture" ? DEFAULT_PLUGIN_LIMITS.outputBytes : 0,
    },
    grants: {
      network: plugin.network,
      readPaths: plugin.readPaths,
      writePaths: action.grants.writePaths,
    },
    config: {
      ...plugin.config,
      argv: JSON.stringify(args),
      ...Object.fromEntries(args.map((word, i) => [`argv.${i + 1}`, word])),
      "reyn.hook": hook.label,
      "reyn.point": firing.point,
      "reyn.session": firing.session,
      "reyn.firing_id": firing.firingId,
    },
    env: {
      ...Object.fromEntries(named),
      REYN_HOOK: hook.label,
      REYN_POINT: firing.point,
      REYN_SESSION: firing.session,
      REYN_FIRING_ID: firing.firingId,
    },
    args,
    readOnly: [loaded.file, ...codeOfHooks(ports.commands(), ports)],
    emit: (name, values) =>
      ports.audit.emit("plugin_emitted", firing.session, { hook: hook.label, name, values }),
    signal: ports.signal,
  };
}

function failure(result: PluginResult): ExecResult {
  const [denial] = result.denied;
  const ended = result.reason ?? `it returned ${result.returncode}`;
  const denied = denial ? `; ${DENIAL_CLASS[denial.axis]}: ${denial.reason}` : "";
  const words = [result.error, result.log.trim()].filter((text) => text !== null && text !== "").join("; ");
  return {
    verdict: "failed",
    code: "E_HOOK_EXEC",
    error: `${result.outcome}: ${ended}${denied}`,
    ...(words === "" ? {} : { said: words.slice(-MOST_SAID), saidBy: "plugin" as const }),
  };
}
