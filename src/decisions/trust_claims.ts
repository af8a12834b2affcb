import { realpathSync } from "node:fs";
import { MOST_CLAIMS, trustRefusal } from "../config/judge_claims.ts";
import type { JudgedClaim, JudgeTrust, TrustClaim } from "../config/trust_claim.ts";
import type { Finding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import type { Declaration, DeclaredHook } from "./declaration.ts";
import type { ConfigPlace } from "./find_config.ts";
import { resolveTarget } from "./load_local.ts";

/** What has to be trusted for one hook. */
export interface DecisionClaim {
  hook: DeclaredHook;
  claim: TrustClaim;
}

/**
 * What a project's declaration has to be trusted for: each entry with the code that it names; of the operator's own
 * nothing. Disabled hooks are not part of it.
 */
export function decisionClaims(place: ConfigPlace, { hooks }: Pick<Declaration, "hooks">): DecisionClaim[] {
  if (place.word === "operator") return [];
  return hooks.filter((hook) => hook.enabled).map((hook) => ({
    hook,
    claim: {
      file: place.shown,
      key: `hooks[${hook.index}]`,
      place: () => hook.place,
      value: hook.raw,
      reasons: [`the decision hook ${quote(hook.name)} ${whatItMay(hook)}`],
      argvs: codeFiles(hook, place.folder).map((file) => [file]),
      operatorOnly: false,
    },
  }));
}

/** As `decisionClaims`, held against what is trusted. Without a judge nothing is. */
export function judgedClaims(
  place: ConfigPlace,
  declaration: Pick<Declaration, "hooks">,
  judgeTrust: JudgeTrust | undefined,
): { hook: DeclaredHook; claim: JudgedClaim }[] {
  return decisionClaims(place, declaration).map(({ hook, claim }) => ({
    hook,
    claim: { ...claim, verdict: judgeTrust?.(claim) ?? { state: "new" } },
  }));
}

/** Hooks of a project that the operator does not trust, each as a finding. */
export function untrusted(
  place: ConfigPlace,
  declaration: Pick<Declaration, "hooks">,
  { judgeTrust }: { judgeTrust?: JudgeTrust | undefined },
): Finding[] {
  const judged = judgedClaims(place, declaration, judgeTrust);
  const refused = judged.flatMap(({ hook, claim: { key, place: at, reasons, verdict } }) => {
    if (verdict.state === "trusted") return [];
    const { message, fix } = trustRefusal({ reasons }, verdict);
    return [
      finding("E_PROJECT_UNTRUSTED", message, { subject: `${key} ${quote(hook.name)}`, place: at(), fix }),
    ];
  });
  if (judged.length <= MOST_CLAIMS) return refused;
  const message = `more than ${MOST_CLAIMS} decision hooks need trust, which is more than a person reads`;
  const rest = {
    place: { file: place.shown, line: 1, column: 1 },
    fix: "declare some in ~/.reyn/cli-config.yaml",
  };
  return [finding("E_PROJECT_UNTRUSTED", message, rest)];
}

function whatItMay({ executor }: DeclaredHook): string {
  switch (executor.kind) {
    case "url":
      return executor.tokenEnv === null
        ? "sends work items to a service"
        : `sends work items and the value of ${executor.tokenEnv} to a service`;
    case "wasm":
      return "decides by a plugin";
    default:
      return "runs code with everything that you may do";
  }
}

/** The files that run when the hook is loaded, as far as they can be found. */
function codeFiles({ executor }: DeclaredHook, folder: string): string[] {
  if (executor.kind === "url") return [];
  if (executor.kind === "wasm") return [realOr(executor.target)];
  const found = resolveTarget({ kind: executor.kind, target: executor.target }, folder);
  return [found.ok ? found.file : executor.target];
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
