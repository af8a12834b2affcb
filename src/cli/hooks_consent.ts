import process from "node:process";
import { keyFields } from "../consent/allowlist_entry.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { requireStart } from "../runtime/audit_trust.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { approvalOf, approvals } from "../runtime/consent_verbs.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";

/** `reyn hooks allow NAME`: shows what a hook's command is and may do, and approves exactly that. */
export async function allowHookVerb(globals: GlobalOptions, name: string, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const talk = (line: string) => void process.stderr.write(line);
  await requireStart(configuration, { controlDir: dir, host, talk });
  const { hook, key, question, allowlist } = await approvalOf(configuration, dir, name);
  const stored = await allowlist.add(key, hook.label);
  for (const problem of await allowlist.problems()) process.stderr.write(`${formatFinding(problem)}\n`);
  if (stored.status === "not_stored") {
    throw new ReynError("E_ALLOWLIST_UNSAFE", `the approval was not stored: ${stored.reason}`);
  }
  if (globals.json) {
    const told = { hook: hook.label, allowed: keyFields(key), allowlist: allowlist.path };
    process.stdout.write(`${JSON.stringify(told)}\n`);
    return EXIT.ok;
  }
  const lines = [`allowed: ${question.command}`, ...question.details.map((line) => `  ${line}`)];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (!globals.quiet) process.stderr.write(`stored in ${escapeVisible(allowlist.path)}\n`);
  return EXIT.ok;
}

/** `reyn hooks revoke NAME`: takes back what was approved for a hook of this name in this control folder. */
export async function revokeHookVerb(globals: GlobalOptions, name: string): Promise<number> {
  const dir = controlDir(globals.dir);
  const allowlist = approvals(dir);
  const done = await allowlist.remove((entry) => entry.hook === name && entry.key?.cwd === dir);
  if (done.status === "not_stored") {
    throw new ReynError("E_ALLOWLIST_UNSAFE", `the approval was not taken back: ${done.reason}`);
  }
  if (done.removed.length === 0) {
    throw new ReynError("E_HOOK_UNKNOWN", `nothing is approved for a hook called ${name} in ${dir}`);
  }
  if (globals.json) process.stdout.write(`${JSON.stringify({ hook: name, revoked: done.removed.length })}\n`);
  else for (const entry of done.removed) process.stdout.write(`revoked: ${escapeVisible(entry.command)}\n`);
  return EXIT.ok;
}
