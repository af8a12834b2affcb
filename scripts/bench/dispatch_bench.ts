import { systemClock } from "../../src/clock/clock.ts";
import { createDispatcher } from "../../src/hooks/dispatcher.ts";
import type { Firing } from "../../src/hooks/ports.ts";
import type { Hook, HookAction } from "../../src/hooks/hook.ts";
import { hookRegistry } from "../../src/hooks/registry.ts";
import { noMatchVerdicts } from "../../src/hooks/verdict.ts";
import { compileMatcher } from "../../src/match/mod.ts";
import { hookMessage } from "../../src/session/messages.ts";
import { compileTemplate } from "../../src/template/mod.ts";
import type { BenchRow } from "../lib/bench_table.ts";

const CALLS = 20_000;
const BATCHES = 15;

/** Microseconds of one awaited call: the median over batches, after a warm-up. */
async function medianAwaited(run: () => Promise<unknown>, calls = CALLS): Promise<number> {
  const times: number[] = [];
  for (let batch = 0; batch < BATCHES + 5; batch++) {
    const start = performance.now();
    for (let call = 0; call < calls; call++) await run();
    if (batch >= 5) times.push(((performance.now() - start) * 1000) / calls);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1] ?? 0;
}

const payload = {
  point: "turn_end",
  agent_name: "default",
  chain_id: "c1",
  user_text: "file:///repo/docs/guide/introduction.md",
  status: "ok",
  hook_driven_turns: 0,
};
const external = {
  point: "mcp_resource_updated",
  server: "github",
  uri: "file:///repo/docs/guide/introduction.md",
  agent_name: "default",
  resync: false,
};

function push(message: string): HookAction {
  const compiled = compileTemplate(message, { strict: true, escapeValues: true });
  if (!compiled.ok) throw new Error(compiled.error.message);
  return {
    scheme: "template_push",
    push: { message: compiled.template, wake: false, pushWhen: true, session: null },
  };
}

function hook(
  index: number,
  matcher: Record<string, string> | null,
  action: HookAction,
  external = false,
): Hook {
  const compiled = matcher && compileMatcher(matcher);
  return {
    layer: "startup",
    index,
    name: null,
    label: `startup#${index}`,
    attribution: "turn_end",
    target: { kind: "builtin", point: external ? "mcp_resource_updated" : "turn_end" },
    matcher: compiled,
    noMatch: noMatchVerdicts(compiled),
    enabled: true,
    onError: "continue",
    overlap: "queue",
    rateLimit: null,
    awaited: true,
    action,
  };
}

function dispatcherOf(hooks: Hook[]) {
  return createDispatcher(hookRegistry(hooks), {
    session: "default/main",
    // What the log costs is measured in audit_bench; here it only has to take the event.
    audit: { emit: () => {}, flush: () => Promise.resolve(), close: () => Promise.resolve() },
    clock: systemClock,
    route: () => ({ to: "own" }),
    deliver: () => Promise.resolve(),
    exec: null,
    switchedOff: () => false,
  });
}

/** What a firing costs: without hooks, with hooks that do not match, and with one that pushes. */
export async function rows(): Promise<BenchRow[]> {
  const firing: Firing = { key: "turn_end", id: "default/main/1/turn_end", payload, chainId: null };
  const outside: Firing = { key: "mcp_resource_updated", id: "e1", payload: external, chainId: null };
  const empty = async () => {};
  const floor = await medianAwaited(empty);
  const none = dispatcherOf([]);
  const noHooks = await medianAwaited(() => none.dispatch(firing));
  const hundred = (make: (n: number) => Record<string, string>, from: Firing, isExternal: boolean) => {
    const dispatcher = dispatcherOf(
      Array.from({ length: 100 }, (_, n) => hook(n, make(n), push("x"), isExternal)),
    );
    return medianAwaited(() => dispatcher.dispatch(from), 5000);
  };
  const exact = await hundred((n) => ({ status: `status-${n}` }), firing, false);
  const glob = await hundred((n) => ({ uri: `file:///repo/src-${n}/**` }), outside, true);
  const inner = await hundred((n) => ({ uri: `file:///repo/*/part-${n}/*.md` }), outside, true);
  const staged = (message: string) => {
    const dispatcher = dispatcherOf([hook(0, null, push(message))]);
    return medianAwaited(async () => {
      const { pushes } = await dispatcher.dispatch(firing);
      for (const one of pushes) hookMessage(one);
    });
  };
  const plain = await staged("Run complete. Check for pending tasks.");
  const two = await staged("{{ agent_name }} ended {{ status }}: check for pending tasks.");
  return [
    {
      name: "dispatch: no hooks at the point",
      unit: "us",
      value: noHooks,
      floor,
      floorName: "empty async call",
      goal: { timesFloor: 2 },
    },
    {
      name: "dispatch: 100 hooks, none matches (exact)",
      unit: "us",
      value: exact,
      floor,
      goal: { atMost: 3 },
    },
    {
      name: "dispatch: 100 hooks, none matches (glob prefix/**)",
      unit: "us",
      value: glob,
      floor,
      floorName: "empty async call",
      goal: { atMost: 10 },
    },
    {
      name: "dispatch: 100 hooks, none matches (glob a*b*c that fails in its middle)",
      unit: "us",
      value: inner,
      floor,
      floorName: "empty async call",
      goal: { atMost: 10 },
    },
    {
      name: "push: static text, rendered and staged",
      unit: "us",
      value: plain,
      floor,
      floorName: "empty async call",
      goal: { atMost: 3 },
    },
    {
      name: "push: two variables, rendered and staged",
      unit: "us",
      value: two,
      floor,
      floorName: "empty async call",
      goal: { atMost: 5 },
    },
  ];
}
