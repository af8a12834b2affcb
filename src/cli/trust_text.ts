import type { JudgedClaim, TrustVerdict } from "../config/trust_claim.ts";
import { visibleJson } from "../consent/list_text.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { formatFinding } from "../errors/finding.ts";
import type { TrustReview } from "../runtime/trust_review.ts";

type Item = TrustReview["items"][number];

/** A review for a person: every value whole, every code file with its hash, nothing hidden. */
export function reviewText({ folder, items, gone, trustedAt }: TrustReview): string {
  const shown = escapeVisible(folder);
  if (items.length === 0) return `nothing in ${shown} needs your trust\n`;
  const since = trustedAt === null ? "" : ` (last trusted ${trustedAt})`;
  const lines = [
    `What the files of ${shown} set that needs your trust${since}:`,
    "",
    ...items.flatMap(itemLines),
    ...gone.map(({ file, key }) => `${file} ${key}\n  was trusted, and is not asked for any more`),
  ];
  const open = items.filter(({ claim }) => claim.verdict.state !== "trusted").length;
  const count = `${items.length} ${items.length === 1 ? "value" : "values"}`;
  const end = open === 0 ? `${count}, all trusted` : `${count}, ${open} not trusted`;
  return `${lines.join("\n")}\n\n${end}\n`;
}

function itemLines({ claim, bound }: Item): string[] {
  const { line, column } = claim.place();
  const code = bound.ok ? Object.entries(bound.key.code) : [];
  return [
    `${claim.file}:${line}:${column} ${escapeVisible(claim.key)}`,
    `  ${visibleJson(claim.value)}`,
    ...claim.reasons.map((reason) => `  why: ${escapeVisible(reason)}`),
    ...code.map(([file, content]) =>
      `  code: ${escapeVisible(file)} ${escapeVisible(shownContent(content))}`
    ),
    ...bound.ok ? [] : [`  code: ${escapeVisible(bound.reason)}`],
    ...stateLines(claim.verdict).map((text) => `  ${escapeVisible(text)}`),
  ];
}

function shownContent(content: string): string {
  return content.startsWith("-> ") ? content : `sha256:${content}`;
}

function stateLines(verdict: TrustVerdict): string[] {
  switch (verdict.state) {
    case "trusted":
      return ["trusted"];
    case "new":
      return ["not trusted"];
    case "changed":
      return verdict.what.map((what) => `changed since ${verdict.since}: ${what}`);
    case "operator_only":
      return ["cannot be trusted: only ~/.reyn/config.yaml may set it"];
  }
}

/** A review for programs; `recordedAt`: when this very command trusted it, else null. */
export function reviewJson(review: TrustReview, recordedAt: string | null) {
  const { folder, path, trustedAt, items, gone, blockers } = review;
  const recorded = recordedAt !== null;
  const isTrusted = recorded || items.every(({ claim }) => claim.verdict.state === "trusted");
  return {
    folder,
    record: path,
    trusted: isTrusted,
    recorded,
    trusted_at: recordedAt ?? trustedAt,
    keys: items.map((item) => keyJson(item, recorded)),
    gone: gone.map(({ file, key }) => ({ file, key })),
    blockers: blockers.map((blocker) => formatFinding(blocker)),
  };
}

function keyJson({ claim, bound }: Item, recorded: boolean) {
  const { file, key, value, reasons } = claim;
  const { line, column } = claim.place();
  return {
    file,
    line,
    column,
    key,
    value,
    reasons,
    state: recorded ? "trusted" : claim.verdict.state,
    changes: changesOf(claim, recorded),
    code: bound.ok ? bound.key.code : {},
  };
}

function changesOf({ verdict }: JudgedClaim, recorded: boolean): readonly string[] {
  return verdict.state === "changed" && !recorded ? verdict.what : [];
}
