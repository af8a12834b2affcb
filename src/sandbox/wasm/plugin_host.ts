import { existsSync } from "node:fs";
import process from "node:process";
import { selfCommand } from "../../adapter/self_command.ts";
import { type Clock, systemClock } from "../../clock/clock.ts";
import type { Sandbox } from "../sandbox.ts";
import { type Breaker, openBreaker } from "./breaker.ts";
import { grantedFolders } from "./granted_folders.ts";
import { DEFAULT_PLUGIN_LIMITS, MOST_HTTP_BYTES, type PluginLimits } from "./limits.ts";
import { type Module, type PluginChild, talkTo } from "./plugin_child.ts";
import { type Confinement, openPool, type Pool } from "./pool.ts";
import { type Asked, openAsked, type SendRequest } from "./answer_call.ts";
import type { GrantedFolder } from "./protocol.ts";
import { FAULTS, type PluginOutcome, type PluginResult } from "./result.ts";
import { openVariables, type Variables } from "./variables.ts";
import { PLUGIN_VERB } from "./verb.ts";

export interface PluginGrants {
  /** What `send` is asked with; false closes the axis. */
  network: boolean | readonly string[];
  /** As the operator wrote them. */
  readPaths: readonly string[];
  writePaths: readonly string[];
}

export const NO_GRANTS: PluginGrants = { network: false, readPaths: [], writePaths: [] };

/** One call of an export. */
export interface PluginCall {
  /** Whose variables it has, and against whom its faults count. Stable, and of one hook only. */
  owner: string;
  module: Module;
  export: string;
  input: Uint8Array;
  limits?: Partial<PluginLimits>;
  grants?: PluginGrants;
  /** What `config_get` finds. */
  config?: Readonly<Record<string, string>>;
  /** A WASI module's environment and arguments. */
  env?: Readonly<Record<string, string>>;
  args?: readonly string[];
  /** Files that it never writes, whatever is granted: the modules of hooks. */
  readOnly?: readonly string[];
  /** What the plugin tells the audit log. */
  emit?: (name: string, values: Readonly<Record<string, number | boolean>>) => void;
  /** Ends the call, as `signal`. */
  signal?: AbortSignal;
}

export interface PluginHost {
  /** Runs the call in a confined process, and comes back by its deadline. Never throws. */
  call(call: PluginCall): Promise<PluginResult>;
  /** Has a process ready before the first call. */
  warm(): void;
  /** How often in a row it failed. */
  faults(owner: string): number;
  /** Processes that there are. */
  size(): number;
  /** Ends all processes, and calls that are under way. */
  close(): Promise<void>;
}

export interface PluginHostOptions {
  sandbox: Pick<Sandbox, "start">;
  clock: Clock;
  /** Absolute. */
  controlDir: string;
  homes: readonly string[];
  denyRead: readonly string[];
  /** Sends requests of plugins that are granted the network. Default: none is sent. */
  send?: SendRequest;
  /** The words that start a process for plugins, without the verb. Default: this program. */
  command?: readonly string[];
  /** Most processes. Default 4. */
  mostChildren?: number;
}

/** A call that takes longer may be one that hangs: another process is made ready then. */
const SLOW_MS = 50;
const NO_OUTPUT = new Uint8Array();
/** How often the memory of a process is looked at while a call is slow. Real time. */
const WATCH_MS = 100;
/** What a runtime needs for itself, to compile a large module included, in bytes. */
const RUNTIME_BYTES = 512 * 1024 * 1024;

interface Ports {
  options: PluginHostOptions;
  pool: Pool;
  breaker: Breaker;
  variables: Variables;
}

/** Runs plugins: modules that get their input and their grants, and nothing else of the machine. */
export function createPluginHost(options: PluginHostOptions): PluginHost {
  const { clock } = options;
  const pool = openPool({
    clock,
    start: (confinement) => startChild(options, confinement),
    ...(options.mostChildren === undefined ? {} : { most: options.mostChildren }),
  });
  const ports: Ports = { options, pool, breaker: openBreaker(clock), variables: openVariables() };
  return {
    async call(call) {
      const began = clock.monotonic();
      const limits = { ...DEFAULT_PLUGIN_LIMITS, ...call.limits };
      if (ports.breaker.isOpen(call.owner)) {
        return without(
          "disabled",
          `it failed ${ports.breaker.faults(call.owner)} times in a row, and is not called any more`,
        );
      }
      const result = await bounded(ports, call, limits, began);
      if (FAULTS.has(result.outcome) && !call.signal?.aborted) {
        result.disables = ports.breaker.fault(call.owner);
        return result;
      }
      if (result.outcome === "ok" || result.outcome === "exit") ports.breaker.good(call.owner);
      return result;
    },
    warm: () => pool.spare(FLOOR_CONFINEMENT),
    faults: (owner) => ports.breaker.faults(owner),
    size: () => pool.size(),
    close: () => pool.close(),
  };
}

/** The call with its deadline, which counts from the asking. */
function bounded(ports: Ports, call: PluginCall, limits: PluginLimits, began: number): Promise<PluginResult> {
  const { clock } = ports.options;
  return new Promise((resolve) => {
    const state: CallState = {
      given: { up: false },
      settled: false,
      running: undefined,
      ask: undefined,
      endEarly: (outcome, reason) => endEarly(outcome, reason),
    };
    const deadline = limits.timeoutMs > 0 ? began + limits.timeoutMs : Infinity;
    let stopTimer = () => {};
    let stopWatching: (() => void) | undefined;
    let stopWaiting = () => {};
    // One timer for the whole call, since nearly every call ends before it is due.
    const look = () => {
      const now = clock.monotonic();
      if (now >= deadline) return endEarly("timeout", `timed out after ${limits.timeoutMs / 1000} s`);
      const { running } = state;
      if (running && !stopWatching && now >= running.since + SLOW_MS) {
        ports.pool.spare(FLOOR_CONFINEMENT);
        stopWatching = watchMemory(running.child, limits, state);
      }
      const next = stopWatching ? deadline : Math.min(deadline, (running?.since ?? now) + SLOW_MS);
      if (next < Infinity) stopTimer = clock.after(next - now, look);
    };
    const settle = (result: PluginResult) => {
      if (state.settled) return;
      state.settled = state.given.up = true;
      stopTimer();
      stopWatching?.();
      stopWaiting();
      call.signal?.removeEventListener("abort", onAbort);
      result.durationMs = clock.monotonic() - began;
      resolve(result);
    };
    const endEarly = (outcome: PluginOutcome, reason: string) => {
      if (state.settled) return;
      state.running?.child.kill();
      state.ask?.abandon();
      const { denied, deniedMore } = state.ask ?? {};
      settle({ ...without(outcome, reason), denied: denied ?? [], deniedMore: deniedMore ?? 0 });
    };
    const onAbort = () => endEarly("signal", "it was ended by reyn");
    if (call.signal?.aborted) return onAbort();
    call.signal?.addEventListener("abort", onAbort, { once: true });
    look();
    const start = () => {
      performCall(ports, call, limits, state).then(
        settle,
        (error: unknown) =>
          settle(without("launch_failed", error instanceof Error ? error.message : String(error))),
      );
    };
    const wait = ports.breaker.waitMs(call.owner);
    if (wait > 0) stopWaiting = clock.after(wait, start);
    else start();
  });
}

interface CallState {
  given: { up: boolean };
  settled: boolean;
  /** The process that works on it. */
  running: { child: PluginChild; since: number } | undefined;
  ask: Asked | undefined;
  endEarly(outcome: PluginOutcome, reason: string): void;
}

async function performCall(
  ports: Ports,
  call: PluginCall,
  limits: PluginLimits,
  state: CallState,
): Promise<PluginResult> {
  const { options, pool } = ports;
  const { clock } = options;
  const grants = call.grants ?? NO_GRANTS;
  if (call.input.length > limits.inputBytes) {
    return without("input_limit", `its input is over ${limits.inputBytes} bytes`);
  }
  const granted = grantedFolders(grants, options);
  if (!granted.ok) return without("launch_failed", granted.reason);
  const readOnly = grants.writePaths.length > 0 ? call.readOnly ?? [] : [];
  const isPlain = granted.folders.length === 0 && limits.memoryBytes <= DEFAULT_PLUGIN_LIMITS.memoryBytes;
  const confinement = isPlain
    ? FLOOR_CONFINEMENT
    : confinementOf(granted.folders, readOnly, limits.memoryBytes);
  const lease = await pool.take({ confinement, owner: call.owner, hash: call.module.hash }, state.given);
  if (!lease.ok) return without("sandbox_unconfirmed", lease.reason);
  if (state.settled) {
    lease.release();
    return without("signal", "nobody waits for it any more");
  }
  state.running = { child: lease.child, since: clock.monotonic() };
  const variables = ports.variables.begin(call.owner);
  const asked = openAsked({
    variables,
    network: grants.network,
    maxHttpBytes: Math.min(MOST_HTTP_BYTES, limits.memoryBytes),
    ...(options.send ? { send: options.send } : {}),
    ...(call.emit ? { emit: call.emit } : {}),
  });
  state.ask = asked;
  try {
    const done = await lease.child.call({
      head: {
        hash: call.module.hash,
        export: call.export,
        instance: JSON.stringify([call.owner, call.export, limits.memoryBytes, granted.folders]),
        memoryBytes: limits.memoryBytes,
        outputBytes: limits.outputBytes,
        logLines: limits.logLines,
        logBytes: limits.logBytes,
        hostCalls: limits.hostCalls,
        config: call.config ?? {},
        env: call.env ?? {},
        args: call.args ?? [],
        folders: granted.folders,
        now: clock.now(),
      },
      module: call.module,
      input: call.input,
      answer: asked.answer,
    });
    if (done.status === "gone") {
      return {
        ...without("signal", `its process ended: ${done.reason}`),
        denied: asked.denied,
        deniedMore: asked.deniedMore,
      };
    }
    const { head } = done;
    if (head.outcome === "ok") variables.keep();
    return {
      outcome: head.outcome,
      returncode: head.returncode,
      output: done.output,
      reason: head.reason,
      error: head.error,
      log: head.log,
      denied: [...head.denied, ...asked.denied],
      deniedMore: head.deniedMore + asked.deniedMore,
      hostCalls: head.hostCalls,
      memoryBytes: head.memoryBytes,
      disables: false,
      durationMs: 0,
    };
  } finally {
    lease.release();
  }
}

/**
 * The guest's memory is bounded by its module, but compiling one takes memory, too. A limit that the system would set on the process
 * counts what engines only reserve, so it is looked at from here.
 */
function watchMemory(child: PluginChild, limits: PluginLimits, state: CallState): () => void {
  const most = RUNTIME_BYTES + 3 * limits.memoryBytes;
  let cancel = () => {};
  const look = () => {
    cancel = systemClock.after(WATCH_MS, () => {
      if (state.settled) return;
      if (child.residentBytes() <= most) return look();
      state.endEarly("memory_limit", `its process held more than ${most} bytes`);
    });
  };
  look();
  return () => cancel();
}

/** Guest memory in steps, so that processes can serve hooks whose limits differ a little. */
function confinementOf(
  folders: readonly GrantedFolder[],
  readOnly: readonly string[],
  memory: number,
): Confinement {
  const memoryBytes = Math.max(
    DEFAULT_PLUGIN_LIMITS.memoryBytes,
    2 ** Math.ceil(Math.log2(Math.max(1, memory))),
  );
  const places = folders.map(({ host, write }) => `${write ? "w" : "r"}${host}`).sort();
  return {
    key: JSON.stringify([places, [...readOnly].sort(), memoryBytes]),
    writePaths: folders.filter(({ write }) => write).map(({ host }) => host),
    readOnly,
    files: folders.length > 0,
    memoryBytes,
  };
}

/** That of a plugin without grants. */
const FLOOR_CONFINEMENT = confinementOf([], [], DEFAULT_PLUGIN_LIMITS.memoryBytes);

/** Files that a process may have open, its runtime's own included. */
const DESCRIPTORS = 256;
const SHELL = "/bin/sh";

async function startChild(options: PluginHostOptions, confinement: Confinement) {
  const { sandbox, clock, controlDir, homes, denyRead } = options;
  const words = [...(options.command ?? selfCommand()), PLUGIN_VERB];
  const isBun = process.versions.bun !== undefined;
  const limit = `ulimit -c 0; ulimit -n ${DESCRIPTORS}; exec "$@"`;
  const started = await sandbox.start({
    // A shell is where limits can be set without a program of our own; where there is none the module's own bounds remain.
    argv: existsSync(SHELL) ? [SHELL, "-c", limit, "reyn", ...words] : words,
    env: isBun ? {} : denoFolders(process.env),
    policy: {
      controlDir,
      homes,
      denyRead,
      readOnly: confinement.readOnly,
      grants: { subprocess: false, network: false, writePaths: confinement.writePaths },
    },
  });
  if (!started.ok) return started;
  started.child.unref();
  return { ok: true as const, child: talkTo(started.child, { files: confinement.files, clock }) };
}

/** Where Deno finds what it has compiled of the source before. */
function denoFolders(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = ["HOME", "DENO_DIR", "XDG_CACHE_HOME"];
  return Object.fromEntries(names.flatMap((name) => env[name] === undefined ? [] : [[name, env[name]]]));
}

function without(outcome: PluginOutcome, reason: string): PluginResult {
  return {
    outcome,
    returncode: -1,
    output: NO_OUTPUT,
    reason,
    error: null,
    log: "",
    denied: [],
    deniedMore: 0,
    hostCalls: 0,
    memoryBytes: 0,
    disables: false,
    durationMs: 0,
  };
}
