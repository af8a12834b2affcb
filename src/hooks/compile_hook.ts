import { entryContext } from "../config/entry_context.ts";
import type { SectionContext } from "../config/section.ts";
import { didYouMean } from "../config/suggest.ts";
import { compileMatcher } from "../match/mod.ts";
import {
  hasSource,
  type HookTarget,
  parseTarget,
  REACTION_POINTS,
  type ReactionPoint,
  REACTIONS,
} from "../points/reactions.ts";
import { checkMatcher } from "./check_matcher.ts";
import { compilePush } from "./compile_push.ts";
import { compileExec } from "./exec_action.ts";
import { type Hook, type HookAction, type RateLimit, targetKey } from "./hook.ts";
import { quote } from "../errors/quote.ts";
import { isMisspelt, pluginArgv } from "./plugin_argv.ts";
import { parseRate } from "./rate_limiter.ts";
import { EXEC_KEYS, type HookInput, PLUGIN_KEYS, type Scheme, SCHEMES } from "./schema.ts";
import type { SessionRef } from "./session_ref.ts";
import { noMatchVerdicts } from "./verdict.ts";

/** Points that a hook's own effect can set off again; without a limit two of them would chase each other. */
const SELF_FEEDING: ReadonlySet<ReactionPoint> = new Set(["file_changed", "mcp_resource_updated"]);
const SELF_FEEDING_LIMIT: RateLimit = { count: 60, perMs: 60_000 };

/** Checks one entry and makes it ready to run; undefined when something about it was reported. */
export function compileHook(
  input: HookInput,
  index: number,
  context: SectionContext,
  own: SessionRef,
): Hook | undefined {
  const checking = entryContext(context, index);
  const checked = checking.context;
  const target = checkTarget(input.on, checked);
  const scheme = checkScheme(input, checked);
  checkSchemeKeys(input, scheme, checked);
  if (target) {
    const place = { path: ["matcher"], code: "E_HOOK_MATCHER" } as const;
    checkMatcher(input.matcher, target, place, checked);
    checkAwait(input, target, checked);
  }
  const action = scheme && compileAction(scheme, input, target, checked, own);
  if (checking.faults > 0 || !target || !action) return undefined;

  const name = input.name?.trim() || null;
  const matcher = input.matcher && Object.keys(input.matcher).length > 0
    ? compileMatcher(input.matcher)
    : null;
  return {
    layer: context.layer,
    index,
    name,
    label: name ?? `${context.layer}#${index}`,
    attribution: name ?? targetKey(target),
    target,
    matcher,
    noMatch: noMatchVerdicts(matcher),
    enabled: input.enabled ?? true,
    onError: input.on_error ?? "continue",
    overlap: input.overlap ?? "queue",
    rateLimit: input.rate_limit === undefined ? defaultRate(target) : parseRate(input.rate_limit),
    awaited: input.await ?? true,
    action,
  };
}

function checkTarget(on: string, context: SectionContext): HookTarget | undefined {
  const target = parseTarget(on);
  if (!target) {
    context.report(["on"], "E_HOOK_POINT", pointProblem(on), pointFix(on));
    return undefined;
  }
  if (target.kind === "composed") return target;
  if (!hasSource(target.point)) {
    const part = REACTIONS[target.point].source;
    const message = `${target.point} is fired by ${part}, which this version of reyn does not have yet`;
    context.report(["on"], "E_HOOK_NOT_YET", message);
  }
  return target;
}

function pointProblem(on: string): string {
  if (on.trim() === "") return "names no point";
  if (/^\s*llm:/i.test(on)) return "an llm: event cannot be hooked directly";
  if (/^\s*(mcp|webhook|http):/i.test(on)) return `${on.trim()} can only be a composer's input`;
  return `there is no point "${on.trim()}"`;
}

function pointFix(on: string): string {
  if (/^\s*(llm|mcp|webhook|http):/i.test(on)) {
    return "let a composer turn it into composed:<name> and hook that";
  }
  const near = didYouMean(on.replace(/^\s*builtin:(\w*:)?/i, ""), REACTION_POINTS);
  return near ?? `one of ${REACTION_POINTS.join(", ")}, or composed:<name>`;
}

function checkScheme(input: HookInput, context: SectionContext): Scheme | undefined {
  const present = SCHEMES.filter((scheme) => input[scheme] !== undefined);
  const [scheme, second] = present;
  if (scheme === undefined) {
    context.report([], "E_HOOK_SCHEME", "has no scheme", `add exactly one of ${SCHEMES.join(", ")}`);
    return undefined;
  }
  if (second !== undefined) {
    context.report(
      [second],
      "E_HOOK_SCHEME",
      `has ${present.length} schemes: ${present.join(", ")}`,
      "keep one",
      "key",
    );
    return undefined;
  }
  return scheme;
}

function checkSchemeKeys(input: HookInput, scheme: Scheme | undefined, context: SectionContext): void {
  if (!scheme) return;
  const runs = scheme === "exec" || scheme === "exec_capture";
  const plugin = runs && pluginArgv(input[scheme]?.[0]) !== undefined;
  if (runs && isMisspelt(input[scheme]?.[0])) {
    const message = `${quote(input[scheme]?.[0] ?? "")} names no plugin`;
    const fix = "write FILE.wasm, or FILE.wasm#EXPORT with an export of letters, digits, _ . and -";
    context.report([scheme, 0], "E_HOOK_ARGV", message, fix);
    return;
  }
  for (const key of EXEC_KEYS) {
    if (input[key] !== undefined && !runs) {
      context.report(
        [key],
        "E_HOOK_KEY_SCHEME",
        `${key} belongs to exec and exec_capture, not to ${scheme}`,
        undefined,
        "key",
      );
    }
  }
  for (const key of PLUGIN_KEYS) {
    if (input[key] !== undefined && !plugin) {
      context.report(
        [key],
        "E_HOOK_KEY_SCHEME",
        `${key} belongs to plugins (argv[0] ending in .wasm)`,
        undefined,
        "key",
      );
    }
  }
  if (Array.isArray(input.network) && !plugin && runs) {
    context.report(["network"], "E_HOOK_KEY_SCHEME", "a list of hosts is for plugins", "write true or false");
  }
  if (plugin && input.subprocess === true) {
    context.report(["subprocess"], "E_HOOK_KEY_SCHEME", "a plugin cannot start processes");
  }
}

function checkAwait(input: HookInput, target: HookTarget, context: SectionContext): void {
  const lifecycle = target.kind === "builtin" && REACTIONS[target.point].family === "lifecycle";
  if (lifecycle && input.await !== false && input.overlap !== undefined && input.overlap !== "queue") {
    context.report(
      ["overlap"],
      "W_HOOK_OVERLAP",
      "the session waits for this hook, so its runs never meet",
      "`await: false` lets it run in the background",
    );
  }
  if (input.await === undefined || lifecycle) return;
  const message = "await belongs to lifecycle points; elsewhere nobody waits for a hook";
  context.report(["await"], "E_HOOK_KEY_SCHEME", message, undefined, "key");
}

function compileAction(
  scheme: Scheme,
  input: HookInput,
  target: HookTarget | undefined,
  context: SectionContext,
  own: SessionRef,
): HookAction | undefined {
  switch (scheme) {
    case "template_push": {
      const push = input.template_push && compilePush(input.template_push, target, context, own);
      return push && { scheme, push };
    }
    case "exec":
    case "exec_capture":
      return compileExec(scheme, input, context);
    case "pipeline_launch":
      context.report(
        [scheme],
        "E_HOOK_NOT_YET",
        `${scheme} does not run in this version of reyn yet`,
        undefined,
        "key",
      );
      return { scheme, pipeline: input.pipeline_launch?.name ?? "" };
  }
}

function defaultRate(target: HookTarget): RateLimit | null {
  return target.kind === "builtin" && SELF_FEEDING.has(target.point) ? SELF_FEEDING_LIMIT : null;
}
