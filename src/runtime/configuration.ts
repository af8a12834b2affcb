import process from "node:process";
import { AGENT_NAME, DEFAULT_AGENT } from "../agents/section.ts";
import { unusedWorkspace, type Workspace } from "../agents/workspace.ts";
import type { Composer } from "../composers/composer.ts";
import { type LayerFile, loadConfiguration, type StartupFiles } from "../config/load_layers.ts";
import type { DeclaredTest } from "../composers/testing/section.ts";
import type { LayerValue } from "../config/values.ts";
import type { JudgedClaim } from "../config/trust_claim.ts";
import { didYouMean } from "../config/suggest.ts";
import { type Finding, isError } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding, ReynError } from "../errors/reyn_error.ts";
import type { Hook } from "../hooks/hook.ts";
import type { SandboxConfig } from "../sandbox/section.ts";
import type { ModelConfig } from "../model/section.ts";
import type { SessionSettings } from "../session/context.ts";
import { isSessionName } from "../session/names.ts";
import { checkComposers, mergeFindings } from "./check_composers.ts";
import { checkHooks } from "./check_hooks.ts";
import { homeFolder, ignoredHome } from "./surroundings.ts";
import { nearNames } from "./near_names.ts";
import { configSections } from "./sections.ts";
import { isSent, NO_SERVER, type ServerConfig } from "./serve_section.ts";
import { trustOf } from "./trust.ts";

/** Everything a session of one agent needs to know, read and checked. */
export interface Configuration {
  agent: string;
  sid: string;
  /** Every declared agent. */
  agents: readonly string[];
  findings: readonly Finding[];
  /** False: an operator or startup layer holds an error, so nothing may start. */
  usable: boolean;
  model: ModelConfig;
  workspace: Workspace;
  session: SessionSettings;
  shutdownGraceMs: number;
  server: ServerConfig;
  sandbox: SandboxConfig;
  /** Of all layers, in the order in which they run. */
  hooks: readonly Hook[];
  /** Of all layers, in their order. */
  composers: readonly Composer[];
  /** Names of hooks that this session has switched off. */
  disabled: ReadonlySet<string>;
  tests: readonly LayerValue<DeclaredTest[]>[];
  /** Files that were found, with what became of them. */
  layers: readonly { layer: string; file: string; state: string }[];
  /** Files that were left out alone. */
  skipped: readonly { layer: string; file: string; findings: number }[];
  /** What project files set that needs the operator's trust, with what was found of it. */
  claims: readonly JudgedClaim[];
  /**
   * Looks again at the code that a command of a project file names: undefined when it still is what is trusted, else
   * what is different.
   */
  recheckCommand(argv: readonly string[]): Promise<string | undefined>;
}

export interface LoadOptions {
  controlDir: string;
  agent: string;
  /** Null: what any session of the agent has that brings no file of its own. */
  sid: string | null;
  /** The operator and startup files as they were read before. */
  startup?: StartupFiles;
}

/** Reads all layers for one session. Throws only for an agent or session that cannot be named. */
export function loadForSession({ controlDir, agent, sid: named, startup }: LoadOptions): Configuration {
  requireNames(agent, named);
  const sid = named ?? "";
  const sections = configSections({ agent, sid });
  const home = homeFolder(controlDir);
  const { trust, file: trustFile } = trustOf(controlDir);
  const loaded = loadConfiguration({
    controlDir,
    home,
    env: process.env,
    agent,
    ...(named === null ? {} : { session: named }),
    ...(startup ? { startup } : {}),
    sections: sections.all,
    judge: trust.judge,
  });
  const { values } = loaded;
  const agents = values.find(sections.agents);
  const own = agents?.get(agent);
  const safety = values.find(sections.safety);
  const sandbox = values.find(sections.sandbox) ?? { backend: "auto", denyRead: [], policy: {} };
  const names = [...agents?.keys() ?? [DEFAULT_AGENT]];
  const checked = checkHooks(values.list(sections.hooks), {
    sandbox,
    controlDir,
    agents: names,
    own: { agent, sid },
  });
  const server = values.find(sections.server) ?? NO_SERVER;
  const composed = checkComposers({
    isSent: (kind) => isSent(kind, server.tokens),
    layers: values.list(sections.composers),
    hooks: sections.composedHooks,
    files: new Map(loaded.layers.map(({ shown, layer }) => [shown, layer])),
    leftOut: new Set([
      ...checked.leftOut,
      ...loaded.layers.filter(({ state }) => state === "skipped").map(({ shown }) => shown),
    ]),
    declared: sections.declaredKinds,
    incomplete: loaded.findings.some((one) => isError(one) && one.subject?.startsWith("composers") === true),
  });
  const { leftOut } = composed;
  const hooks = checked.usable.filter(({ shown }) => !leftOut.has(shown)).flatMap((layer) => layer.value);
  const { claims } = loaded;
  const findings = [
    ...[ignoredHome(controlDir) ?? []].flat(),
    ...nearNames(controlDir, home),
    // Nobody is told of a file that would not change a thing.
    ...claims.length > 0 ? trustFile.problems() : [],
    ...mergeFindings(loaded.findings, [...checked.findings, ...composed.findings]),
  ];
  if (agents && !own) findings.push(unknownAgent(agent, agents.keys()));
  const disabled = new Set<string>();
  for (const layer of values.list(sections.disabled)) {
    for (const { index, name } of layer.value) {
      disabled.add(name);
      if (hooks.some((hook) => hook.name === name)) continue;
      const fix = didYouMean(name, hooks.flatMap((hook) => hook.name ?? []));
      findings.push(
        layer.finding([index], "W_HOOK_DISABLED_UNKNOWN", `no hook is called ${quote(name)}`, fix),
      );
    }
  }
  return {
    agent,
    sid,
    agents: names,
    findings,
    usable: loaded.usable && own !== undefined && !checked.stopsStart && !composed.stopsStart,
    model: own?.model ?? values.find(sections.model) ?? { provider: "echo", hookRole: "user" },
    workspace: own?.workspace ?? unusedWorkspace(controlDir),
    session: {
      agent,
      sid,
      cap: safety?.loop.max_hook_driven_turns ?? 0,
      onLimit: safety?.on_limit ?? "warn",
      resetOn: safety?.loop.reset_on ?? [],
      resume: values.find(sections.resume) ?? "retry",
      ...(own?.instructions === undefined ? {} : { instructions: own.instructions }),
    },
    shutdownGraceMs: values.find(sections.shutdownGrace) ?? 0,
    server,
    sandbox,
    hooks,
    composers: composed.composers.map(({ composer }) => composer),
    disabled,
    tests: values.list(sections.tests),
    layers: loaded.layers.map(({ layer, shown, state }) => ({ layer, file: shown, state })),
    skipped: loaded.layers
      .filter((file) => file.state === "skipped" || leftOut.has(file.shown))
      .map((file) => skippedLayer(file, findings)),
    claims,
    recheckCommand: (argv) => trust.recheck(argv, claims),
  };
}

/** Throws, with all findings, when a run may not start. */
export function requireUsable(configuration: Configuration): void {
  if (configuration.usable) return;
  const errors = configuration.findings.filter(isError);
  throw new ReynError(errors[0]?.code ?? "E_CONFIG_TYPE", "the configuration cannot be used", {
    findings: configuration.findings,
  });
}

/** Throws for an agent or session that cannot be named. */
export function requireNames(agent: string, sid: string | null): void {
  if (!AGENT_NAME.test(agent)) {
    throw new ReynError("E_AGENT_UNKNOWN", `${quote(agent)} cannot be the name of an agent`, { exitCode: 2 });
  }
  if (sid !== null && !isSessionName(sid)) {
    throw new ReynError("E_SESSION_NAME", `${quote(sid)} cannot be the id of a session`, {
      fix: "letters, digits and . _ - : @ +, at most 128, not beginning with a dot",
      exitCode: 2,
    });
  }
}

function unknownAgent(agent: string, declared: Iterable<string>): Finding {
  const names = [...declared];
  const fix = didYouMean(agent, names) ?? `declared: ${names.join(", ") || DEFAULT_AGENT}`;
  return finding("E_AGENT_UNKNOWN", `no agent is called ${quote(agent)}`, { fix });
}

function skippedLayer(file: LayerFile, findings: readonly Finding[]) {
  const errors = findings.filter((one) => isError(one) && one.place?.file === file.shown).length;
  return { layer: file.layer, file: file.shown, findings: errors };
}
