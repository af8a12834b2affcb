import { createHash } from "node:crypto";
import { escapeVisible } from "../errors/escape_visible.ts";
import { type ConsentGrants, type ConsentKey, keyText } from "./consent_key.ts";
import { shownCommand } from "./shown_command.ts";

/** What a person is asked, on every surface the same. No text in it can move a cursor or read otherwise than it is. */
export interface ConsentQuestion {
  /** Tells two commands apart by all that an approval covers: a question about the same one is the same question. */
  digest: string;
  /** `Shell hook lint wants to run a command` */
  title: string;
  /** The exact argv, quoted as for a shell; never cut. */
  command: string;
  /** What else the approval covers, a line each. */
  details: readonly string[];
  /** What is different from what was approved; empty where nothing near it was. */
  changes: readonly string[];
  choices: readonly ConsentChoice[];
}

/** `A` approves and stores, `y` lets it run this once, `n` does not. */
export type ConsentAnswer = "A" | "y" | "n";

export interface ConsentChoice {
  answer: ConsentAnswer;
  label: string;
}

export const CONSENT_CHOICES: readonly ConsentChoice[] = [
  { answer: "A", label: "always" },
  { answer: "y", label: "yes, this once" },
  { answer: "n", label: "no" },
];

const MOST_LISTED = 20;

export function consentQuestion(
  key: ConsentKey,
  hook: string | null,
  changes: readonly string[] = [],
): ConsentQuestion {
  return {
    digest: createHash("sha256").update(keyText(key)).digest("hex"),
    title: hook === null
      ? "A shell hook wants to run a command"
      : `Shell hook ${escapeVisible(hook)} wants to run a command`,
    command: shownCommand(key.argv),
    details: [
      `in: ${shown([key.cwd])}`,
      `may: ${grantsLine(key.grants)}`,
      ...(key.envNames.length > 0 ? [`gets the variables: ${shown(key.envNames)}`] : []),
      `confined by: ${escapeVisible(key.backend)}`,
      ...(Object.keys(key.config).length > 0
        ? [`bound to the config: ${shown(Object.keys(key.config))}`]
        : []),
      ...filesLine(Object.keys(key.files)),
    ],
    changes,
    choices: CONSENT_CHOICES,
  };
}

/** The whole question as lines of plain text, without the choices. */
export function questionText(question: ConsentQuestion): string {
  const changes = question.changes.map((change) => `  changed since it was approved: ${change}`);
  return [
    question.title,
    `  ${question.command}`,
    ...question.details.map((line) => `  ${line}`),
    ...changes,
  ].join("\n");
}

function grantsLine(grants: ConsentGrants): string {
  const { subprocess, network, writePaths, readPaths } = grants;
  const hosts = typeof network === "boolean" ? [] : network;
  const parts = [
    ...(subprocess ? ["start processes"] : []),
    ...(network === true ? ["use the network"] : hosts.length > 0 ? [`reach ${shown(hosts)}`] : []),
    ...(writePaths.length > 0 ? [`write ${shown(writePaths)}`] : []),
    ...(readPaths.length > 0 ? [`read ${shown(readPaths)}`] : []),
  ];
  return parts.length > 0
    ? parts.join("; ")
    : "nothing beyond the floor (no processes, no network, no writes)";
}

function filesLine(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const more = files.length > MOST_LISTED ? ` and ${files.length - MOST_LISTED} more` : "";
  return [`bound to the content of: ${shown(files.slice(0, MOST_LISTED))}${more}`];
}

/** Grants are never cut: what is not shown is not agreed to. */
function shown(words: readonly string[]): string {
  return shownCommand(words);
}
