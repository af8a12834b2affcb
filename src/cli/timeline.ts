import { DEFAULT_KEY } from "../composers/composer.ts";
import type { ComposerEvent } from "../composers/runner.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { publicEvent } from "../runtime/public_event.ts";
import type { RunEvent } from "../runtime/run_event.ts";
import type { HookEvent } from "../hooks/ports.ts";
import type { HistoryMessage } from "../session/messages.ts";

/** Of a message of many MiB only the beginning is shown, or escaped at all. */
const LONGEST_SHOWN = 2000;

/** A run's event as far as it is shown: hooks are known by their names alone when a server tells it. */
export type ShownEvent =
  | Exclude<RunEvent, { type: HookEvent["type"] }>
  | { type: "push"; push: { hook: string; wake: boolean } }
  | { type: "hook_failed"; hook: { label: string }; code: string; error: string }
  | { type: "hook_refused"; hook: { label: string }; reason: string; error: string }
  | { type: "rate_limited"; hook: { label: string } };

/** Where a run's timeline goes: replies are data, all else is talk. */
export interface TimelineOutput {
  data(text: string): void;
  talk(text: string): void;
  /** Longest line of talk, in characters. */
  width: number;
}

/** Turns what a session tells into lines for a person. */
export function timeline(output: TimelineOutput): (event: ShownEvent) => void {
  const talk = (text: string) => output.talk(`${clip(text, output.width)}\n`);

  const message = (item: HistoryMessage) => {
    const who = item.hook === undefined ? `${item.role}: ` : "";
    talk(`    ${who}${oneLine(item.text)}`);
  };

  return (event) => {
    switch (event.type) {
      case "session_opened":
        talk(`session ${event.session} ${event.resumed ? "opened again" : "opened"}`);
        return;
      case "turn_started": {
        const driven = event.hookDrivenTurns > 0 ? ` (${event.hookDrivenTurns} from inside)` : "";
        const origin = event.origin === "new" ? "" : `, ${event.origin}`;
        talk(`  turn ${event.turn} · ${event.kind}${driven}${origin}`);
        event.messages.forEach(message);
        return;
      }
      case "context_added":
        event.messages.forEach(message);
        return;
      case "accepted":
      case "reply_delta":
        return;
      case "reply":
        if (event.message.text !== "") output.data(`${safeText(event.message.text)}\n`);
        for (const call of event.message.toolCalls ?? []) talk(`    calls ${oneLine(call.name)}`);
        return;
      case "tool_result":
        talk(`    tool: ${oneLine(event.message.text)}`);
        return;
      case "turn_ended": {
        const error = event.error ? `: ${event.error.code} ${oneLine(event.error.message)}` : "";
        // Unclipped: the end of a failed command's stderr says the most, and it is short.
        output.talk(`  turn ${event.turn} ended ${event.status}${error}\n`);
        return;
      }
      case "push":
        talk(
          `    + [hook:${oneLine(event.push.hook)}] ${
            event.push.wake ? "asks for a turn" : "waits for a turn"
          }`,
        );
        return;
      case "hook_failed":
        output.talk(
          `    ! hook ${oneLine(event.hook.label)} failed: ${event.code} ${oneLine(event.error)}\n`,
        );
        return;
      case "hook_refused":
        output.talk(
          `    ! hook ${oneLine(event.hook.label)} did not run: ${event.reason}: ${oneLine(event.error)}\n`,
        );
        return;
      case "composer":
        talk(`    ${composed(event.what)}`);
        return;
      case "rate_limited":
        talk(`    ! hook ${oneLine(event.hook.label)} is held back by its rate_limit`);
        return;
      case "valve_closed":
        talk(
          `  valve closed: ${event.count} turns in a row were triggered from inside (cap ${event.cap}); ` +
            `on_limit ${event.action}: ${heldBack(event.held, event.action)}`,
        );
        return;
      case "valve_answered":
        talk(
          event.extended
            ? `  valve opened for ${event.cap} more ${
              event.cap === 1 ? "turn" : "turns"
            } (answered by ${event.by})`
            : `  valve stays closed (${event.by}): ${heldBack(event.held, "warn")}`,
        );
        return;
      case "held_back":
        talk(`  valve is closed: ${heldBack(event.held, event.action)}`);
        return;
      case "backing_off":
        talk(`  waiting ${event.ms} ms after a failed turn`);
        return;
      case "suspended":
        talk(
          `  suspended by hook ${oneLine(event.hook)}, ${event.waiting} queued: ` +
            `\`reyn sessions resume ${event.session}\` lets it go on`,
        );
        return;
      case "inbox_refused":
        talk(`    ! a ${event.kind} message was refused: ${event.reason}`);
        return;
      case "session_ended":
        talk(`session ${event.session} ended`);
        return;
    }
  };
}

/** What happens in a session as JSON lines: every event but the pieces of a reply. */
export function jsonLines(
  write: (text: string) => void,
  more: Readonly<Record<string, string>> = {},
): (event: RunEvent) => void {
  return (event) => {
    const shown = publicEvent(event);
    if (shown) write(`${JSON.stringify({ ...shown, ...more })}\n`);
  };
}

function composed(what: ComposerEvent): string {
  const name = oneLine(what.composer);
  const key = what.key === DEFAULT_KEY ? "" : ` for ${oneLine(what.key)}`;
  return what.type === "fired"
    ? `* composer ${name} fired${key}: ${oneLine(what.event.kind)}`
    : `! composer ${name} dropped what it held${key}: ${what.reason}`;
}

function heldBack(count: number, action: string): string {
  const messages = count === 1 ? "1 message" : `${count} messages`;
  if (action === "ask_user") return `${messages} ${count === 1 ? "waits" : "wait"} for an answer`;
  return action === "abort" ? `${messages} dropped` : `${messages} held back until a person writes`;
}

/** The first line, and how many more there are. */
function oneLine(text: string): string {
  const end = text.indexOf("\n");
  if (end === -1 || end === text.length - 1) {
    return escapeVisible(text.slice(0, end === -1 ? LONGEST_SHOWN : Math.min(end, LONGEST_SHOWN)));
  }
  let more = 0;
  for (let at = end; at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1)) more += 1;
  return `${escapeVisible(text.slice(0, Math.min(end, LONGEST_SHOWN)))} … (${more} more lines)`;
}

/** Text from outside as it may reach a terminal: lines and tabs kept, other control characters shown escaped. */
function safeText(text: string): string {
  return text.split("\n").map((line) => line.split("\t").map(escapeVisible).join("\t")).join("\n");
}

function clip(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
