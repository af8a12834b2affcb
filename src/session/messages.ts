import { createHash } from "node:crypto";
import type { MessageKind } from "../points/message_kinds.ts";
import type { HookPush } from "../hooks/push.ts";
import type { InboxMessage, InboxRow, Json } from "../store/store.ts";

/** Kinds that something inside reyn sends: their turns are counted by the valve. */
const FROM_INSIDE: ReadonlySet<string> = new Set<MessageKind>([
  "hook",
  "pipeline_result",
  "agent_request",
  "agent_response",
  "agent_step",
]);

export function isFromInside(kind: string): boolean {
  return FROM_INSIDE.has(kind);
}

/** One message of the conversation. Once made it is never changed. */
export interface HistoryMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  /** Name of the hook that pushed it. */
  readonly hook?: string;
  readonly turn: number;
  readonly toolCalls?: readonly { id: string; name: string; args: { [key: string]: Json } }[];
  readonly toolCallId?: string;
}

/** Longest text of one message, in UTF-16 units; above it a message is refused. */
export const LONGEST_MESSAGE = 32 * 1024 * 1024;

export function humanMessage(id: string, text: string): InboxMessage {
  return { id, kind: "user", wake: true, outside: true, body: { text, chain_id: id } };
}

/** A message of a person under an id that its sender has chosen: sent again, it has to say the same. */
export function keyedMessage(id: string, text: string, wake: boolean): InboxMessage {
  const hash = createHash("sha256").update(wake ? "wake\n" : "passive\n").update(text).digest();
  return { ...humanMessage(id, text), wake, digest: hash.readUIntBE(0, 6) };
}

/** `hops`: how many sessions it has come through, one after the other, without a message from outside. */
export function hookMessage(push: HookPush, hops = 0): InboxMessage {
  return {
    id: push.id,
    kind: "hook",
    wake: push.wake,
    body: { text: attributed(push), hook: push.hook, chain_id: push.chainId, ...(hops > 0 ? { hops } : {}) },
  };
}

export function attributed(push: { hook: string; text: string }): string {
  return `[hook:${push.hook}] ${push.text}`;
}

export function textOf(message: InboxMessage): string {
  const text = message.body["text"];
  return typeof text === "string" ? text : "";
}

export function hookOf(message: InboxMessage): string | undefined {
  const hook = message.body["hook"];
  return typeof hook === "string" ? hook : undefined;
}

export function chainOf(message: InboxMessage): string | null {
  const chain = message.body["chain_id"];
  return typeof chain === "string" ? chain : null;
}

export function hopsOf(message: InboxMessage): number {
  const hops = message.body["hops"];
  return typeof hops === "number" ? hops : 0;
}

export function historyMessage(row: InboxRow, turn: number): HistoryMessage {
  const hook = hookOf(row);
  const base = {
    id: row.id,
    role: row.kind === "user" ? "user" as const : "system" as const,
    text: textOf(row),
    turn,
  };
  return hook === undefined ? base : { ...base, hook };
}
