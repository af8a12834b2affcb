import type { Allowlist } from "./allowlist.ts";
import { type ConsentKey, type ConsentKeyResult, isSameKey } from "./consent_key.ts";
import { describeChange } from "./describe_change.ts";
import { type ConsentAnswer, type ConsentQuestion, consentQuestion } from "./question.ts";
import { shownCommand } from "./shown_command.ts";

/**
 * Puts the question to whoever listens. Anything but `A` and `y` is a no: also null, for cancelled, empty or too late. How long it
 * may take is the port's affair.
 */
export type AskConsent = (question: ConsentQuestion) => Promise<ConsentAnswer | null>;

export interface ConsentOptions {
  /** What would run, told anew at each call. */
  key: () => Promise<ConsentKeyResult>;
  /** The hook's own name; null for one that has none. */
  hookName: string | null;
  /** How records and commands refer to it. Default: its name. */
  hookLabel?: string;
  allowlist: Allowlist;
  /** reyn's own environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Present only where somebody listens at this very dispatch. */
  ask?: AskConsent;
}

export type ConsentDecision =
  /** `notStored`: the answer was "always" and could not be stored, so that it counts for this run only. */
  | {
    allowed: true;
    by: "allowlist" | "environment" | "once" | "always";
    key: ConsentKey;
    notStored?: string;
  }
  | { allowed: false; why: ConsentRefusal; reason: string; fix: string };

/** Why a command may not run, for records. */
export type ConsentRefusal =
  | "not_approved"
  /** It was approved, and is another command now. */
  | "changed"
  | "answered_no"
  | "no_answer"
  | "not_asked"
  | "changed_while_asked"
  /** What would run cannot be told for certain. */
  | "unbindable";

export const ACCEPT_HOOKS = "REYN_ACCEPT_HOOKS";

/** Whether reyn's own environment says yes to everything, for this process. */
export function acceptsAll(env: Readonly<Record<string, string | undefined>>): boolean {
  return env[ACCEPT_HOOKS]?.trim() === "1";
}

/**
 * Whether a command may run now: the allowlist, then REYN_ACCEPT_HOOKS=1 (for this process, never stored), then whoever listens, else
 * no, at once. Nothing is read from stdin or a terminal here. Never throws.
 */
export async function decideConsent(options: ConsentOptions): Promise<ConsentDecision> {
  const { hookName, allowlist, env, ask } = options;
  const label = options.hookLabel ?? hookName;
  const named = label === null ? "NAME" : shownCommand([label]);
  const fix = `approve it with \`reyn hooks allow ${named}\`, or set ${ACCEPT_HOOKS}=1 for one process`;
  const first = await options.key();
  if (!first.ok) return { allowed: false, why: "unbindable", reason: first.reason, fix: first.fix };
  const { key } = first;
  const found = await allowlist.find(key, label);
  if (found.status === "approved") return { allowed: true, by: "allowlist", key };
  if (acceptsAll(env)) return { allowed: true, by: "environment", key };
  const changes = found.status === "changed" ? found.what : [];
  if (!ask) {
    const why = found.status === "changed"
      ? `it changed since it was approved: ${changes.join("; ")}`
      : "it is not approved, and nobody is there to ask";
    return {
      allowed: false,
      why: found.status === "changed" ? "changed" : "not_approved",
      reason: why + await unusable(allowlist),
      fix,
    };
  }

  let answer: ConsentAnswer | null;
  try {
    answer = await ask(consentQuestion(key, hookName, changes));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { allowed: false, why: "not_asked", reason: `the question could not be put: ${said}`, fix };
  }
  if (answer !== "A" && answer !== "y") {
    return answer === "n"
      ? { allowed: false, why: "answered_no", reason: "the answer was no", fix }
      : { allowed: false, why: "no_answer", reason: "there was no answer", fix };
  }
  // A person takes minutes, in which a file may be exchanged: what runs is what was shown.
  const second = await options.key();
  if (!second.ok) return { allowed: false, why: "unbindable", reason: second.reason, fix: second.fix };
  if (!isSameKey(key, second.key)) {
    const what = describeChange(key, second.key).join("; ");
    const reason = `it changed while the question was open: ${what}`;
    return { allowed: false, why: "changed_while_asked", reason, fix };
  }
  if (answer === "y") return { allowed: true, by: "once", key };
  const stored = await allowlist.add(key, label);
  if (stored.status === "stored") return { allowed: true, by: "always", key };
  const notStored = `the approval was not stored and counts for this run only: ${stored.reason}`;
  return { allowed: true, by: "always", key, notStored };
}

/** Why the allowlist as a whole could not have said yes. */
async function unusable(allowlist: Allowlist): Promise<string> {
  const problems = await allowlist.problems();
  const [first] = problems.filter(({ severity }) => severity === "error");
  return first ? `; ${first.message}` : ` (allowlist: ${allowlist.path})`;
}
