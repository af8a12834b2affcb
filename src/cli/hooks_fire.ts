import process from "node:process";
import { readTextFile } from "../config/read_file.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { targetKey } from "../hooks/hook.ts";
import { type HookTarget, namespacedName } from "../points/reactions.ts";
import { requireStart } from "../runtime/audit_trust.ts";
import { type Configuration, loadForSession } from "../runtime/configuration.ts";
import { consentStates } from "../runtime/consent_state.ts";
import { type DryHook, fireDry } from "../runtime/fire_dry.ts";
import { firedPayload, firedTarget, type Payload } from "../runtime/fire_payload.ts";
import { connectServer } from "../server/client.ts";
import { controlDir } from "./control_dir.ts";
import { fireThroughServer } from "./fire_attached.ts";
import { type FiredForReal, fireForReal, type FireForRealOptions } from "./fire_for_real.ts";
import type { GlobalOptions, Host } from "./host.ts";

export interface FireOptions {
  globals: GlobalOptions;
  point: string;
  /** JSON, or `@file`. */
  data: string | undefined;
  run: boolean;
}

/** More than any event is. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * `reyn hooks fire POINT`: what each hook of a point would do with a payload, or with `--run` what it does. Exit 5 when a
 * command was refused because the sandbox is not confirmed, 1 when a hook failed or was refused in a real run.
 */
export async function fireHooksVerb({ globals, point, data, run }: FireOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const target = firedTarget(point);
  const payload = firedPayload(target, givenData(data), globals.agent);
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const talk = (line: string) => void process.stderr.write(line);
  await requireStart(configuration, { controlDir: dir, host, talk });
  if (!globals.quiet) {
    for (const warning of configuration.findings) process.stderr.write(`${formatFinding(warning)}\n`);
  }
  const consents = consentStates(configuration, dir, process.env);
  const dry = await fireDry({ configuration, controlDir: dir, target, payload, consents });
  const key = targetKey(target);
  const firing = { configuration, dir, key, kind: kindOf(target), payload, dry, globals, host };
  const fired = run ? await fireNow(firing) : { hooks: dry };
  const { hooks, signalled } = { signalled: undefined, ...fired };
  if (globals.json) process.stdout.write(`${JSON.stringify({ point: key, payload, hooks })}\n`);
  else process.stdout.write(firedText(hooks, run));
  if (hooks.length === 0 && !globals.quiet) process.stderr.write(`${noHooks(key, configuration)}\n`);
  return signalled ?? (run ? exitOf(hooks) : EXIT.ok);
}

/** In the session of a server, where one runs; else in this process. */
async function fireNow(firing: FireForRealOptions): Promise<FiredForReal> {
  const client = await connectServer(firing.dir, firing.host.ioClock);
  return client ? await fireThroughServer(client, firing) : await fireForReal(firing);
}

function kindOf(target: HookTarget): string {
  return target.kind === "builtin" ? namespacedName(target.point) : targetKey(target);
}

function exitOf(hooks: readonly DryHook[]): number {
  if (hooks.some(({ reason }) => reason === "sandbox_unconfirmed")) return EXIT.sandboxUnavailable;
  return hooks.some(({ verdict }) => verdict === "failed" || verdict === "refused") ? EXIT.refused : EXIT.ok;
}

function givenData(data: string | undefined): Payload {
  if (data === undefined) return {};
  const wrong = (problem: string) => new ReynError("E_USAGE", `--data: ${problem}`, { exitCode: EXIT.usage });
  const text = data.startsWith("@") ? textOf(data.slice(1)) : data;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong("is no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong("must be a JSON object");
  }
  return value as Payload;
}

/** What a file holds; one that never ends, or that nobody writes to, is refused without waiting. */
function textOf(file: string): string {
  const read = readTextFile(file, file, MOST_BYTES);
  if (read.state === "text") return read.text;
  const problem = read.state === "absent" ? "does not exist" : read.finding.message;
  throw new ReynError("E_USAGE", `--data: ${file} cannot be read: it ${problem}`, { exitCode: EXIT.usage });
}

function noHooks(key: string, { hooks }: Configuration): string {
  return hooks.length === 0 ? "there are no hooks" : `no hook is at ${key}`;
}

function firedText(hooks: readonly DryHook[], run: boolean): string {
  return hooks.map((hook) => {
    const lines = [`${escapeVisible(hook.hook)}  ${hook.layer}  ${verdictText(hook, run)}`];
    const { rendered } = hook;
    if (rendered) {
      const flags = [rendered.wake ? "wakes the session" : "waits for a turn"];
      if (rendered.session !== null) flags.push(`for ${rendered.session}`);
      lines.push(`  message: ${escapeVisible(rendered.message)}`, `  ${escapeVisible(flags.join(", "))}`);
    }
    if (hook.command !== undefined) lines.push(`  command: ${hook.command}`);
    if (hook.cwd !== undefined) lines.push(`  in: ${escapeVisible(hook.cwd)}`);
    if (hook.grants) lines.push(`  may: ${escapeVisible(grantsText(hook.grants))}`);
    if (hook.env && hook.env.length > 0) lines.push(`  gets the variables: ${hook.env.join(" ")}`);
    if (hook.consent && !run) {
      const { state } = hook.consent;
      const why = "reason" in hook.consent ? `: ${hook.consent.reason}` : "";
      lines.push(`  consent: ${escapeVisible(`${state}${why}`)}`);
    }
    return `${lines.join("\n")}\n`;
  }).join("");
}

function verdictText({ verdict, field, reason, outcome }: DryHook, run: boolean): string {
  const why = reason === undefined ? "" : `: ${escapeVisible(reason)}`;
  switch (verdict) {
    case "matcher":
      return `does not match on ${escapeVisible(field ?? "")}`;
    case "push":
      return "would push";
    case "run":
      return "would run";
    case "withheld":
      return run ? "withheld its push" : "would push nothing: push_when is false";
    case "refused":
      return run ? `was refused${why}` : "would be refused";
    case "failed": {
      const where = field === undefined ? "" : ` in ${field}`;
      const ended = outcome === undefined ? "" : ` (${escapeVisible(outcome)})`;
      return `${run ? "failed" : "would fail"}${where}${ended}${why}`;
    }
    case "disabled":
      return `is disabled${why}`;
    default:
      return `${verdict}${why}`;
  }
}

function grantsText({ subprocess, network, write_paths: paths }: NonNullable<DryHook["grants"]>): string {
  const parts = [
    ...(subprocess ? ["start processes"] : []),
    ...(network ? ["use the network"] : []),
    ...(paths.length > 0 ? [`write ${paths.join(" ")}`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : "nothing beyond the floor";
}
