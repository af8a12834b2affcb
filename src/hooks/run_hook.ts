import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import type { DispatcherPorts, Firing, Route } from "./ports.ts";
import type { ExecAction } from "./exec_action.ts";
import type { Hook } from "./hook.ts";
import type { HookPush } from "./push.ts";
import { runExec } from "./run_exec.ts";
import { type CompiledPush, renderPush } from "./template_push.ts";

/** What came of one hook at one firing. */
export type RunResult =
  | { verdict: "pushed"; push: HookPush }
  | { verdict: "withheld" }
  | { verdict: "ran" }
  /** Nothing ran. */
  | { verdict: "refused"; reason: string; error: string }
  | Failure;

interface Failure {
  verdict: "failed";
  code: ErrorCode;
  /** For the log: holds nothing of the payload. */
  error: string;
  /** What a field came to, for a person who watches. */
  rendered?: string;
  /** The end of a command's stderr, or a plugin's own words, for the same person. */
  said?: string;
  saidBy?: "plugin";
}

/** Runs one hook. Whatever it throws is that hook's failure alone; only what has to be waited for is a promise. */
export function runHook(hook: Hook, firing: Firing, ports: DispatcherPorts): RunResult | Promise<RunResult> {
  try {
    const result = runScheme(hook, firing, ports);
    return result instanceof Promise ? result.catch(thrown) : result;
  } catch (error) {
    return thrown(error);
  }
}

/** A command that was refused did not do what it is there for, either. */
export function isFailure({ verdict }: RunResult): boolean {
  return verdict === "failed" || verdict === "refused";
}

/** The error with what a field came to, or what a command said: for a person, not for the log. */
export function shownError({ error, rendered, said, saidBy }: Failure): string {
  if (said !== undefined) return `${error}; ${saidBy === "plugin" ? "it said" : "stderr"}: ${said}`;
  return rendered === undefined ? error : `${error}: ${quote(rendered)}`;
}

function thrown(error: unknown): Failure {
  return {
    verdict: "failed",
    code: "E_INTERNAL",
    error: error instanceof Error ? error.message : String(error),
  };
}

function runScheme(hook: Hook, firing: Firing, ports: DispatcherPorts): RunResult | Promise<RunResult> {
  const { action } = hook;
  switch (action.scheme) {
    case "template_push":
      return runTemplate(hook, action.push, firing, ports);
    case "exec":
    case "exec_capture":
      return runCommand(hook, action, firing, ports);
    case "pipeline_launch":
      return { verdict: "failed", code: "E_HOOK_NOT_YET", error: "pipeline_launch does not run yet" };
  }
}

function runTemplate(
  hook: Hook,
  template: CompiledPush,
  firing: Firing,
  ports: DispatcherPorts,
): RunResult | Promise<RunResult> {
  const result = renderPush(template, firing.payload);
  if (result.status === "withheld") return { verdict: "withheld" };
  if (result.status === "failed") {
    const { field, error, status: _status, ...rest } = result;
    return { verdict: "failed", code: "E_HOOK_TEMPLATE", error: `${field}: ${error}`, ...rest };
  }
  return pushed(hook, firing, ports, result);
}

async function runCommand(
  hook: Hook,
  action: ExecAction,
  firing: Firing,
  ports: DispatcherPorts,
): Promise<RunResult> {
  if (!ports.exec) {
    return { verdict: "refused", reason: "sandbox_unconfirmed", error: "commands do not run here" };
  }
  const result = await runExec(hook, action, {
    session: ports.session,
    point: firing.key,
    firingId: pushId(hook, firing),
    payload: firing.payload,
  }, ports.exec);
  return result.verdict === "push" ? await pushed(hook, firing, ports, result) : result;
}

function pushed(
  hook: Hook,
  firing: Firing,
  ports: DispatcherPorts,
  push: { text: string; wake: boolean; session: string | null },
): RunResult | Promise<RunResult> {
  if (push.session === null) return pushTo(hook, firing, push, { to: "own" });
  const route = ports.route(push.session, hook);
  return route instanceof Promise
    ? route.then((found) => pushTo(hook, firing, push, found))
    : pushTo(hook, firing, push, route);
}

function pushTo(
  hook: Hook,
  firing: Firing,
  { text, wake, session }: { text: string; wake: boolean; session: string | null },
  route: Route,
): RunResult {
  if (route.to === "refused") {
    const error = `session: ${route.reason}`;
    return {
      verdict: "failed",
      code: "E_HOOK_SESSION",
      error,
      ...(session === null ? {} : { rendered: session }),
    };
  }
  const push: HookPush = {
    id: pushId(hook, firing),
    hook: hook.attribution,
    text,
    wake,
    chainId: firing.chainId,
    target: route.to === "session" ? route.id : null,
  };
  return { verdict: "pushed", push };
}

/** The same when the firing is repeated after a crash. */
function pushId(hook: Hook, firing: Firing): string {
  return `${firing.id}/${hook.layer}:${hook.name ?? `#${hook.index}`}`;
}
