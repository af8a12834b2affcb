import { Buffer } from "node:buffer";

/**
 * What goes between reyn and a plugin's process, both ways: the length of the rest (u32, little endian), the kind (u8), the length of
 * the head (u32), the head as JSON or nothing, then bytes.
 */
export interface Frame {
  kind: FrameKind;
  /** JSON text; empty where there is none. */
  head: string;
  body: Uint8Array;
}

/** The first of a connection, both ways, and what a call is made of. */
export const KIND = {
  hello: 1,
  /** A module's bytes, kept under its hash. */
  module: 2,
  /** A module that is not called any more. */
  forget: 3,
  call: 4,
  result: 5,
  /** A question of the plugin's that only reyn can answer, during a call, and its answer. */
  ask: 6,
  answer: 7,
} as const;
export type FrameKind = (typeof KIND)[keyof typeof KIND];

/** Length and kind; the length of the head. */
export const PREFIX_BYTES = 5;
const HEAD_LENGTH_BYTES = 4;
export const PROTOCOL = 1;
/** What the first frame's head begins with; nothing else is taken for one. */
export const GREETING = "reyn-plugin-host";

const decoder = new TextDecoder();
const KINDS: ReadonlySet<number> = new Set(Object.values(KIND));
const NO_BYTES = new Uint8Array();

/** The head is written as JSON, none where it is undefined; the parts together are the body. */
export function encodeFrame(kind: FrameKind, head: unknown, ...parts: readonly Uint8Array[]): Uint8Array {
  const text = head === undefined ? "" : JSON.stringify(head);
  const headLength = Buffer.byteLength(text);
  const bodyAt = PREFIX_BYTES + HEAD_LENGTH_BYTES + headLength;
  const length = parts.reduce((sum, part) => sum + part.length, bodyAt);
  const frame = Buffer.allocUnsafe(length);
  frame.writeUInt32LE(length - 4, 0);
  frame[4] = kind;
  frame.writeUInt32LE(headLength, PREFIX_BYTES);
  frame.write(text, PREFIX_BYTES + HEAD_LENGTH_BYTES);
  let at = bodyAt;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

/** The length of what follows the length itself, and the kind; undefined for what is no frame. */
export function readPrefix(
  bytes: Uint8Array,
  at: number,
  most: number,
): { rest: number; kind: FrameKind } | undefined {
  const rest = u32(bytes, at);
  const kind = bytes[at + 4] ?? 0;
  if (!isKind(kind) || rest < 1 + HEAD_LENGTH_BYTES || rest > most) return undefined;
  return { rest, kind };
}

/** `rest` is what follows the kind. Undefined for what is no frame. The body is a copy. */
export function readRest(kind: FrameKind, rest: Uint8Array): Frame | undefined {
  const end = HEAD_LENGTH_BYTES + u32(rest, 0);
  if (end > rest.length) return undefined;
  return {
    kind,
    head: end === HEAD_LENGTH_BYTES ? "" : decoder.decode(rest.subarray(HEAD_LENGTH_BYTES, end)),
    body: end === rest.length ? NO_BYTES : new Uint8Array(rest.subarray(end)),
  };
}

/** Little endian. A view would have the engine make a buffer of its own for each frame. */
function u32(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a | b << 8 | c << 16 | d << 24) >>> 0;
}

function isKind(value: number): value is FrameKind {
  return KINDS.has(value);
}

export type Unframed = { ok: true; frames: Frame[] } | { ok: false };

/** Cuts a stream into frames; `most` bounds one. After `ok: false` the stream is of no use any more. */
export function frameReader(most: number): (chunk: Uint8Array) => Unframed {
  let chunks: Uint8Array[] = [];
  let held = 0;
  const joined = () => {
    if (chunks.length !== 1) {
      const whole = new Uint8Array(held);
      let at = 0;
      for (const chunk of chunks) {
        whole.set(chunk, at);
        at += chunk.length;
      }
      chunks = [whole];
    }
    return chunks[0] ?? NO_BYTES;
  };
  let wanted = PREFIX_BYTES;
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    const frames: Frame[] = [];
    // Joined only when there is a whole frame, so that a long one in many pieces is copied once.
    while (held >= wanted) {
      const bytes = joined();
      const prefix = readPrefix(bytes, 0, most);
      if (!prefix) return { ok: false };
      wanted = 4 + prefix.rest;
      if (held < wanted) break;
      const frame = readRest(prefix.kind, bytes.subarray(PREFIX_BYTES, wanted));
      if (!frame) return { ok: false };
      frames.push(frame);
      chunks = held > wanted ? [bytes.subarray(wanted)] : [];
      held -= wanted;
      wanted = PREFIX_BYTES;
    }
    return { ok: true, frames };
  };
}
