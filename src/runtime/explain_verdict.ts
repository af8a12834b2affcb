import { quote } from "../errors/quote.ts";
import type { HookDetail } from "./hook_log.ts";

const MISSING: Readonly<Record<string, string>> = {
  not_approved: "no consent: its command is not approved, and nobody was there to ask",
  changed: "no consent: its command changed since it was approved",
  answered_no: "no consent: the answer was no",
  no_answer: "no consent: nobody answered the question",
  not_asked: "no consent: the question could not be put",
  changed_while_asked: "no consent: its command changed while the question was open",
  unbindable: "no consent: it cannot be bound to what would run",
};

/** What a verdict means, in words. `patterns`: the hook's matcher as it is declared now, if it is. */
export function explainVerdict(
  verdict: string,
  detail: HookDetail | undefined,
  patterns: Readonly<Record<string, string>> = {},
): string {
  if (verdict.startsWith("matcher:")) {
    const field = verdict.slice("matcher:".length);
    const pattern = Object.hasOwn(patterns, field) ? patterns[field] : undefined;
    const wanted = pattern === undefined ? "" : `: it wants ${quote(pattern)}`;
    return `its matcher did not match on ${field}${wanted}`;
  }
  switch (verdict) {
    case "pushed":
      return "it matched and pushed";
    case "ran":
      return "it matched and its command ran";
    case "withheld":
      return "it matched, and push_when was false";
    case "disabled":
      return "it was disabled";
    case "queued":
      return "it matched and was put in the background lane";
    case "overlap":
      return "it matched, but its last run was not over (overlap), or the background lane was full";
    case "rate_limited":
      return "it matched, but its rate_limit was used up";
    case "failed":
      return `it matched and failed: ${failure(detail)}`;
    case "refused":
      return `it matched and was refused: ${refusal(detail)}`;
    default:
      return verdict;
  }
}

function failure(detail: HookDetail | undefined): string {
  const { code, error, outcome, denial } = detail ?? {};
  const said = error ?? outcome ?? "the log does not say why";
  return `${code === undefined ? "" : `${code} `}${said}${
    denial && !said.includes(denial) ? ` (${denial})` : ""
  }`;
}

function refusal(detail: HookDetail | undefined): string {
  const { reason, missing } = detail ?? {};
  if (missing !== undefined && Object.hasOwn(MISSING, missing)) return MISSING[missing] ?? missing;
  if (reason === "consent_refused") return "no consent";
  if (reason === "sandbox_unconfirmed") {
    return "the sandbox is not confirmed here (`reyn doctor` shows why)";
  }
  return reason ?? "the log does not say why";
}
