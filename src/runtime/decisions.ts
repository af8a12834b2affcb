import process from "node:process";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import { type DecisionHooks, decisionHooks, lazyDecisionHooks } from "../decisions/decision_hooks.ts";
import { type ConfigPlace, findConfig } from "../decisions/find_config.ts";
import { loadDecisions, type LoadDeps, NO_DECISIONS } from "../decisions/load_decisions.ts";
import { decisionPlugins } from "./decision_plugins.ts";
import { homeFolder } from "./surroundings.ts";
import { trustOf } from "./trust.ts";

export interface DecisionSetup {
  /** The file that declares decision hooks; undefined when there is none. */
  place: ConfigPlace | undefined;
  deps: LoadDeps;
}

/** Where the decision hooks of a control folder are declared, and what loading them needs. */
export function decisionSetup(
  controlDir: string,
  configFile: string | undefined,
  clock: Clock,
): DecisionSetup {
  const home = homeFolder(controlDir);
  const envFile = process.env["REYN_CLI_CONFIG"];
  const place = findConfig({ controlDir, home, configFile, envFile });
  const deps: LoadDeps = {
    clock,
    home,
    env: (name) => process.env[name],
    judgeTrust: trustOf(controlDir).trust.judge,
    plugins: decisionPlugins(controlDir, clock),
  };
  return { place, deps };
}

export interface OneShotOptions {
  audit: Audit;
  clock: Clock;
  ids: Ids;
  /** Lines for the operator. */
  talk: (line: string) => void;
}

/** The decision hooks of a command that does one thing: loaded at the first point, left out when that fails. */
export function oneShotDecisions({ place, deps }: DecisionSetup, options: OneShotOptions): DecisionHooks {
  if (place === undefined) return decisionHooks(NO_DECISIONS, options);
  return lazyDecisionHooks({
    ...options,
    load: () => loadDecisions(place, { ...deps, audit: options.audit }),
  });
}
