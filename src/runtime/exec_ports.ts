import process from "node:process";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import { type Allowlist, openAllowlist } from "../consent/allowlist.ts";
import { type ConsentKeys, consentKeys } from "../consent/consent_key.ts";
import type { ExecPorts } from "../hooks/exec_ports.ts";
import { compileGlob } from "../match/mod.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import type { SandboxConfig } from "../sandbox/section.ts";
import type { SendRequest } from "../sandbox/wasm/answer_call.ts";
import { createPluginHost, type PluginHost } from "../sandbox/wasm/plugin_host.ts";
import { deniedBesides, type Surroundings } from "./surroundings.ts";

export interface Execution {
  sandbox: Sandbox;
  keys: ConsentKeys;
  allowlist: Allowlist;
  /** The ports of one session, but for what is declared. */
  ports: Omit<ExecPorts, "commands">;
  /** Has what plugins need ready before the first of them runs. */
  warmPlugins(): void;
  /** Ends what runs, at once. */
  abandon(): void;
  close(): Promise<void>;
}

export interface ExecutionOptions {
  surroundings: Surroundings;
  config: SandboxConfig;
  clock: Clock;
  /** Paces what waits for other processes. */
  ioClock: Clock;
  audit: Audit;
  talk: (line: string) => void;
}

/** Everything that commands of hooks need. Nothing is started before the first of them runs. */
export function openExecution(
  { surroundings, config, clock, ioClock, audit, talk }: ExecutionOptions,
): Execution {
  const sandbox = openSandbox();
  const keys = consentKeys({ compileGlob });
  const allowlist = openAllowlist({
    path: surroundings.allowlistPath,
    problem: surroundings.allowlistProblem,
    clock: ioClock,
  });
  const ending = new AbortController();
  let host: PluginHost | undefined;
  let send: Promise<SendRequest> | undefined;
  const plugins = () =>
    host ??= createPluginHost({
      sandbox,
      clock,
      controlDir: surroundings.controlDir,
      homes: surroundings.homes,
      denyRead: deniedBesides(config, surroundings),
      send: (request) => (send ??= loadSender(ioClock)).then((ready) => ready(request)),
    });
  return {
    sandbox,
    keys,
    allowlist,
    warmPlugins: () => plugins().warm(),
    ports: {
      sandbox,
      plugins,
      keys,
      allowlist,
      clock,
      audit,
      env: process.env,
      account: surroundings.account,
      controlDir: surroundings.controlDir,
      homes: surroundings.homes,
      denyRead: deniedBesides(config, surroundings),
      agentPolicy: config.policy,
      warn: (text) => talk(`${text}\n`),
      asker: () => undefined,
      signal: ending.signal,
    },
    abandon() {
      ending.abort(new Error("reyn is stopping"));
      void host?.close();
    },
    async close() {
      await host?.close();
      sandbox.close();
    },
  };
}

/** Only a plugin that asks for something over the network needs what sends it. */
async function loadSender(clock: Clock): Promise<SendRequest> {
  const [{ createGuardedFetch }, { sendForPlugins }] = await Promise.all([
    import("../egress/guarded_fetch.ts"),
    import("./plugin_requests.ts"),
  ]);
  return sendForPlugins(createGuardedFetch({ clock }));
}
