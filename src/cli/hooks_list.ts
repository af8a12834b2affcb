import process from "node:process";
import { systemClock } from "../clock/clock.ts";
import { decisionRowText } from "../decisions/list_hooks.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding, isError } from "../errors/finding.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { consentFields, consentText } from "../runtime/consent_state.ts";
import { listDecisions, type ListedDecision } from "../runtime/decision_overview.ts";
import { decisionSetup } from "../runtime/decisions.ts";
import { type ListedHook, type ListedPlugin, listHooks } from "../runtime/hook_listing.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";
import { changedSinceStart, tellSource, whoRuns } from "./told_source.ts";

/**
 * `reyn hooks list`: every reaction of all layers and every decision hook, whether it may run, and what it has done. Imports and
 * contacts nothing. Exit 1 when a declaration cannot be read; what can be is listed all the same.
 */
export async function listHooksVerb(globals: GlobalOptions): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const { hooks, countedSince, problems } = await listHooks({
    configuration,
    controlDir: dir,
    clock: systemClock,
    env: process.env,
  });
  const decisions = await listDecisions(decisionSetup(dir, globals.config, systemClock), dir, systemClock);
  const errors = [...configuration.findings, ...decisions.findings].filter(isError);
  for (const problem of [...errors, ...problems]) process.stderr.write(`${formatFinding(problem)}\n`);
  if (globals.json) {
    const told = hooks.map(({ consent, ...hook }) => ({
      ...hook,
      consent: consent && consentFields(consent),
    }));
    const { config, chainTimeoutSeconds } = decisions;
    process.stdout.write(`${
      JSON.stringify({
        hooks: [...told, ...decisions.hooks.map(decisionFields)],
        decisions: { config, chainTimeoutSeconds },
        counted_since: countedSince,
      })
    }\n`);
  } else {
    process.stdout.write([...hooks.map(hookText), ...decisions.hooks.map(decisionText)].join(""));
    if (!globals.quiet) {
      if (decisions.config !== null) {
        process.stderr.write(`decision hooks: ${escapeVisible(decisions.config)}\n`);
      }
      if (hooks.length === 0 && decisions.hooks.length === 0) process.stderr.write("no hooks\n");
      if (countedSince !== null) process.stderr.write(`counted since ${countedSince}\n`);
    }
  }
  tellSource(globals, `read from files and the log; ${whoRuns(dir)}`);
  const changed = changedSinceStart(dir);
  if (changed && changed.files.length > 0) {
    const { files, pid } = changed;
    tellSource(globals, `changed since reyn serve, pid ${pid}, has read them: ${files.join(", ")}`);
  }
  return errors.length > 0 ? EXIT.refused : EXIT.ok;
}

function decisionFields({ row, counts, last }: ListedDecision) {
  return { hook: row.name, family: "decision", ...row, counts, last };
}

function decisionText({ row, counts: { decided, failed, refused }, last }: ListedDecision): string {
  const did = [
    ...(decided > 0 ? [`decided ${decided}`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(refused > 0 ? [`refused ${refused}`] : []),
  ];
  const lines = [[decisionRowText(row), did.join(", ")].filter((part) => part !== "").join("  ")];
  if (last) lines.push(`  last: ${last.timestamp} ${last.text}`);
  return lines.map((line) => `${escapeVisible(line)}\n`).join("");
}

const STATES: Readonly<Record<ListedHook["state"], string>> = {
  enabled: "",
  disabled: "disabled",
  disabled_here: "disabled in this session",
};

function hookText({ hook, layer, point, scheme, state, plugin, consent, counts, last }: ListedHook): string {
  const parts = [escapeVisible(hook), layer, point, scheme, STATES[state], countsText(counts)];
  const lines = [parts.filter((part) => part !== "").join("  ")];
  if (plugin) lines.push(`  plugin: ${escapeVisible(pluginText(plugin))}`);
  if (consent) lines.push(`  consent: ${escapeVisible(consentText(consent))}`);
  if (last) lines.push(`  last: ${last.timestamp} ${escapeVisible(last.text)}`);
  return `${lines.join("\n")}\n`;
}

function pluginText(plugin: ListedPlugin): string {
  const { network, read_paths: reads, write_paths: writes } = plugin;
  const hosts = network === true ? ["any public host"] : network === false ? [] : network;
  return [
    `${plugin.module}#${plugin.export}`,
    `memory ${plugin.memory / 1024 ** 2} MiB`,
    ...(hosts.length > 0 ? [`reaches ${hosts.join(", ")}`] : []),
    ...(reads.length > 0 ? [`reads ${reads.join(", ")}`] : []),
    ...(writes.length > 0 ? [`writes ${writes.join(", ")}`] : []),
    ...(plugin.restarts > 0
      ? [`made anew ${plugin.restarts === 1 ? "once" : `${plugin.restarts} times`}`]
      : []),
  ].join("; ");
}

function countsText({ evaluated, matched, failed, refused }: ListedHook["counts"]): string {
  if (evaluated === 0) return "never looked at";
  const bad = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return `matched ${matched} of ${evaluated}${bad.length > 0 ? `, ${bad.join(", ")}` : ""}`;
}
