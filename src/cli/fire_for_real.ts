import process from "node:process";
import type { Configuration } from "../runtime/configuration.ts";
import type { DryHook } from "../runtime/fire_dry.ts";
import type { Payload } from "../runtime/fire_payload.ts";
import { openRuntime } from "../runtime/open_runtime.ts";
import type { RunEvent } from "../runtime/run_event.ts";
import { attachTerminal } from "./attach_terminal.ts";
import { fireResults } from "./fire_results.ts";
import { heldOutput } from "./held_output.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { onSignals } from "./signals.ts";
import { timeline } from "./timeline.ts";

export interface FireForRealOptions {
  configuration: Configuration;
  dir: string;
  key: string;
  kind: string;
  payload: Payload;
  dry: readonly DryHook[];
  globals: GlobalOptions;
  host: Host;
}

export interface FiredForReal {
  hooks: DryHook[];
  /** Set when a signal ended it: the exit code. */
  signalled?: number;
}

/** Runs the hooks of a point, with consent asked for as in any run; answers what came of each. */
export async function fireForReal(options: FireForRealOptions): Promise<FiredForReal> {
  const { configuration, dir, key, kind, payload, dry, globals, host } = options;
  const output = heldOutput();
  const talk = output.writer((line) => {
    if (!globals.quiet) process.stderr.write(line);
  });
  const show = timeline({ data: talk, talk, width: 240 });
  const observe = (event: RunEvent) => {
    if (event.type === "push" || event.type === "hook_refused" || event.type === "hook_failed") show(event);
  };
  const runtime = await openRuntime({
    controlDir: dir,
    verb: "hooks fire",
    configuration,
    host,
    talk,
    hooks: true,
    observe,
    onFailure: (session) => talk(`session ${session} failed\n`),
  });
  const { interventions } = runtime;
  const stopping = new AbortController();
  const signals = onSignals({
    clock: host.clock,
    ioClock: host.ioClock,
    graceMs: configuration.shutdownGraceMs,
    stop: () => stopping.abort(),
    giveUp: () => runtime.abandon(),
  });
  const detach = attachTerminal({
    interventions,
    output,
    json: globals.json,
    stdinRead: false,
    clock: host.ioClock,
  });
  const results = fireResults();
  const { record } = results;
  try {
    const session = `${configuration.agent}/${configuration.sid}`;
    const id = `${session}/fire/${host.ids.next()}/${key}`;
    await runtime.fire({ key, kind, id, payload }, { record, stopping: stopping.signal });
  } finally {
    signals.dispose();
    detach();
    await runtime.close();
  }
  const hooks = dry.map((hook) => ({ ...hook, ...results.of(hook.hook) }));
  return { hooks, ...(signals.received ? { signalled: 128 + signals.received.number } : {}) };
}
