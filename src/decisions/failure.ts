import { escapeVisible } from "../errors/escape_visible.ts";

/** An executor's failure that reyn itself found: its name is the class that the record shows. */
export class HookFailure extends Error {
  override readonly name: string;

  constructor(
    name: "TimeoutError" | "BadAnswer" | "RemoteError" | "Unreachable" | "ExecutorEnded" | "PluginFailed",
    message: string,
  ) {
    super(message);
    this.name = name;
  }
}

const LONGEST = 400;

/** `Class: message` of anything that was thrown: one line, bounded, safe to show. Never throws. */
export function failureText(error: unknown): string {
  let text: string;
  try {
    text = textOf(error);
  } catch {
    text = "what was thrown cannot be shown";
  }
  return escapeVisible(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

function textOf(error: unknown): string {
  if (error instanceof Error) {
    const name = String(error.name).slice(0, LONGEST);
    const message = String(error.message).slice(0, LONGEST);
    return message === "" ? name : `${name}: ${message}`;
  }
  if (typeof error === "string") return `thrown text: ${error.slice(0, LONGEST)}`;
  if (error === null || error === undefined) return `${error} was thrown`;
  return `a thrown ${typeof error} that is no error`;
}
