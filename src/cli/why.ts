import process from "node:process";
import { systemClock } from "../clock/clock.ts";
import { didYouMean } from "../config/suggest.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { type Finding, formatFinding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { hookRegistry } from "../hooks/registry.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { type Explained, type WhyEvent, whyEvent, type WhyHook, whyHook } from "../runtime/why.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";

/** `reyn why HOOK|EVENT`: why a hook ran or did not at each of its firings, or what became of each hook at one event. */
export async function whyVerb(globals: GlobalOptions, what: string, last: number): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const told = new Set<string>();
  const onProblem = (problem: Finding) => {
    const line = formatFinding(problem);
    if (!told.has(line)) process.stderr.write(`${line}\n`);
    told.add(line);
  };
  const options = { configuration, controlDir: dir, clock: systemClock, last, onProblem };
  const hook = await whyHook(what, options);
  if (hook) {
    process.stdout.write(globals.json ? `${JSON.stringify(hook)}\n` : hookText(hook));
    return EXIT.ok;
  }
  const event = await whyEvent(what, options);
  if (event.status === "unknown") {
    const labels = hookRegistry(configuration.hooks).all.map((one) => one.label);
    throw new ReynError("E_HOOK_UNKNOWN", `${quote(what)} is no hook, and no event of the log`, {
      fix: didYouMean(what, labels) ??
        `hooks: ${labels.join(", ") || "none"}; \`reyn events --json\` shows ids`,
    });
  }
  process.stdout.write(globals.json ? `${JSON.stringify(eventJson(event))}\n` : eventText(event));
  return EXIT.ok;
}

function hookText({ hook, declared, notes, counts, firings }: WhyHook): string {
  const about = declared ? `${declared.layer}  ${declared.point}  ${declared.scheme}` : "not declared";
  const lines = [`${hook}  ${about}`, ...notes.map((note) => `  ${note}`)];
  for (const { event, timestamp, session, point, text } of firings) {
    lines.push(`  ${timestamp} ${session ?? "-"} ${point}: ${text} (${event})`);
  }
  const more = Object.values(counts).reduce((sum, count) => sum + count, 0) - firings.length;
  if (more > 0) lines.push(`  and ${more} earlier firings (--last)`);
  return `${lines.map(escapeVisible).join("\n")}\n`;
}

function eventJson(event: Exclude<WhyEvent, { status: "unknown" }>) {
  const { id, type, timestamp, session } = event.event;
  return { event: { id, type, timestamp, session }, hooks: event.status === "hooks" ? event.hooks : [] };
}

function eventText(told: Exclude<WhyEvent, { status: "unknown" }>): string {
  const { event } = told;
  const lines = [`${event.id}  ${event.type}  ${event.timestamp} ${event.session ?? "-"}`];
  if (told.status === "none") lines.push("  no hook was looked at for it");
  else lines.push(...told.hooks.map(({ hook, point, text }: Explained) => `  ${hook} at ${point}: ${text}`));
  return `${lines.map(escapeVisible).join("\n")}\n`;
}
