import type { Hook } from "../../hooks/hook.ts";
import { planHooks } from "../../hooks/plan.ts";
import { type RateLimiter, rateLimiter } from "../../hooks/rate_limiter.ts";
import type { HookRegistry } from "../../hooks/registry.ts";
import type { SessionRef } from "../../hooks/session_ref.ts";
import { renderPush } from "../../hooks/template_push.ts";
import type { Composer } from "../composer.ts";
import { simulate } from "../simulation.ts";
import { timelineEvent } from "../timeline.ts";
import type { Happening } from "./happenings.ts";
import type { ConfigTest } from "./section.ts";

export interface TestWorld {
  composers: readonly Composer[];
  hooks: HookRegistry;
  /** Hooks that the session has switched off. */
  off: ReadonlySet<Hook>;
  own: SessionRef;
}

/**
 * Plays a test's events on a clock of their own: composers compose, templates render, and of commands it is only said
 * that they would run.
 */
export function playTest(
  test: ConfigTest,
  { composers, hooks, off, own }: TestWorld,
): { ok: true; happened: Happening[] } | { ok: false; event: number; message: string; fix?: string } {
  const happened: Happening[] = [];
  const limiters = new Map<Hook, RateLimiter>();

  const runHooks = (key: string, payload: Readonly<Record<string, unknown>>, at: number): void => {
    const here = hooks.at(key) ?? [];
    planHooks(here, payload, off).forEach((verdict, index) => {
      const hook = here[index];
      if (verdict !== "run" || !hook || !admits(limiters, hook, at)) return;
      const { label } = hook;
      if (hook.action.scheme !== "template_push") {
        happened.push({ what: "run", at, hook: label });
        return;
      }
      const result = renderPush(hook.action.push, payload);
      if (result.status === "push") {
        happened.push({ what: "push", at, hook: label, text: result.text, wake: result.wake });
      } else if (result.status === "failed") {
        happened.push({ what: "failure", at, hook: label, error: `${result.field}: ${result.error}` });
      }
    });
  };

  const run = simulate(composers, (told, at) => {
    if (told.type === "dropped") {
      happened.push({ what: "drop", at, composer: told.composer, key: told.key, reason: told.reason });
      return;
    }
    const { kind, payload } = told.event;
    happened.push({ what: "fire", at, composer: told.composer, key: told.key, kind, payload });
    runHooks(kind, payload, at);
  });

  let at = 0;
  for (const [index, given] of test.given.entries()) {
    at = given.at ?? at;
    const event = timelineEvent({ at, kind: given.kind, payload: given.payload ?? {} }, own);
    if (!event.ok) {
      const { message, fix } = event;
      return { ok: false, event: index, message, ...(fix === undefined ? {} : { fix }) };
    }
    const { kind, payload } = event.event;
    run.finish(at);
    happened.push({ what: "event", at, kind });
    run.publish(event.event);
    runHooks(pointOf(kind), payload, at);
  }
  run.finish(test.until);
  return { ok: true, happened };
}

/** Where hooks at events of this kind are kept. */
function pointOf(kind: string): string {
  return /^builtin:\w+:(\w+)$/.exec(kind)?.[1] ?? kind;
}

function admits(limiters: Map<Hook, RateLimiter>, hook: Hook, at: number): boolean {
  if (!hook.rateLimit) return true;
  const limiter = limiters.get(hook) ?? rateLimiter(hook.rateLimit);
  limiters.set(hook, limiter);
  return limiter.admit(at).admitted;
}
