import process from "node:process";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { auditTrust, keysOf } from "../runtime/audit_trust.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { reviewTrust, revokeTrust, type TrustReview } from "../runtime/trust_review.ts";
import { askYes, canAsk } from "./ask_yes.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { reviewJson, reviewText } from "./trust_text.ts";

export interface TrustOptions {
  globals: GlobalOptions;
  what: "trust" | "show" | "revoke";
  /** The answer is yes. */
  yes: boolean;
}

/** `reyn trust`: shows exactly what would be trusted, asks at a terminal, and records it. */
export async function trustVerb({ globals, what, yes }: TrustOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  if (what === "revoke") return await revoke(dir, globals, host);
  const review = reviewTrust(
    loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session }),
    dir,
  );
  const print = (text: string) => {
    if (!globals.json) process.stdout.write(text);
  };
  const end = (recordedAt: string | null) => {
    if (globals.json) process.stdout.write(`${JSON.stringify(reviewJson(review, recordedAt))}\n`);
  };
  for (const problem of review.problems()) process.stderr.write(`${formatFinding(problem)}\n`);
  print(reviewText(review));
  const isTrusted = review.items.every(({ claim }) => claim.verdict.state === "trusted");
  if (what === "show" || isTrusted) {
    end(null);
    return EXIT.ok;
  }
  if (review.blockers.length > 0) {
    end(null);
    throw new ReynError("E_PROJECT_UNTRUSTED", "nothing was recorded", { findings: review.blockers });
  }
  if (!await isAgreed(yes, globals.json, host)) {
    end(null);
    throw new ReynError("E_PROJECT_UNTRUSTED", "nothing was recorded", {
      fix: canAsk() && !globals.json
        ? "the answer was no"
        : "nobody can be asked here; `reyn trust --yes` trusts exactly what is shown",
    });
  }
  const at = new Date(host.clock.now()).toISOString();
  await record(review, at);
  end(at);
  const talk = talker(globals);
  talk(`recorded in ${escapeVisible(review.path)}\n`);
  const keys = keysOf(review.items.map(({ claim }) => claim));
  await auditTrust({ controlDir: dir, host, talk }, (audit) => audit.emit("project_trusted", null, keys));
  return EXIT.ok;
}

async function isAgreed(yes: boolean, json: boolean, host: Host): Promise<boolean> {
  if (yes) return true;
  return !json && canAsk() && await askYes("Trust this?", host.ioClock);
}

async function record(review: TrustReview, at: string): Promise<void> {
  const stored = await review.store(at);
  for (const problem of review.problems()) process.stderr.write(`${formatFinding(problem)}\n`);
  if (stored.status === "stored") return;
  throw new ReynError("E_TRUST_NOT_STORED", `the trust was not recorded: ${stored.reason}`);
}

async function revoke(dir: string, globals: GlobalOptions, host: Host): Promise<number> {
  const { folder, path, done } = await revokeTrust(dir);
  if (done.status === "not_stored") {
    throw new ReynError("E_TRUST_NOT_STORED", `the trust was not taken back: ${done.reason}`);
  }
  if (!done.revoked) {
    throw new ReynError("E_TRUST_UNKNOWN", `nothing of ${folder} is trusted`, { fix: `by ${path}` });
  }
  if (globals.json) process.stdout.write(`${JSON.stringify({ folder, revoked: true })}\n`);
  else process.stdout.write(`revoked: ${escapeVisible(folder)}\n`);
  await auditTrust(
    { controlDir: dir, host, talk: talker(globals) },
    (audit) => audit.emit("project_trust_revoked", null, { folder }),
  );
  return EXIT.ok;
}

function talker(globals: GlobalOptions): (line: string) => void {
  return (line) => {
    if (!globals.quiet) process.stderr.write(line);
  };
}
