/**
 * What goes between reyn and a plugin's process, both ways: the length of the rest (u32, little endian), the kind (u8), the length of
 * the head (u32), the head as JSON, then bytes.
 */
export interface Frame {
  kind: FrameKind;
  /** JSON text. */
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

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const KINDS: ReadonlySet<number> = new Set(Object.values(KIND));
const NO_BYTES = new Uint8Array();

export function encodeFrame(kind: FrameKind, head: unknown, body: Uint8Array = NO_BYTES): Uint8Array {
  const text = encoder.encode(JSON.stringify(head));
  const rest = 1 + HEAD_LENGTH_BYTES + text.length + body.length;
  const frame = new Uint8Array(4 + rest);
  const view = new DataView(frame.buffer);
  view.setUint32(0, rest, true);
  frame[4] = kind;
  view.setUint32(PREFIX_BYTES, text.length, true);
  frame.set(text, PREFIX_BYTES + HEAD_LENGTH_BYTES);
  frame.set(body, PREFIX_BYTES + HEAD_LENGTH_BYTES + text.length);
  return frame;
}

/** The length of what follows the length itself, and the kind; undefined for what is no frame. */
export function readPrefix(
  bytes: Uint8Array,
  at: number,
  most: number,
): { rest: number; kind: FrameKind } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, PREFIX_BYTES);
  const rest = view.getUint32(0, true);
  const kind = view.getUint8(4);
  if (!isKind(kind) || rest < 1 + HEAD_LENGTH_BYTES || rest > most) return undefined;
  return { rest, kind };
}

/** `rest` is what follows the kind. Undefined for what is no frame. The body is a copy. */
export function readRest(kind: FrameKind, rest: Uint8Array): Frame | undefined {
  const length = new DataView(rest.buffer, rest.byteOffset, HEAD_LENGTH_BYTES).getUint32(0, true);
  const end = HEAD_LENGTH_BYTES + length;
  if (end > rest.length) return undefined;
  return {
    kind,
    head: decoder.decode(rest.subarray(HEAD_LENGTH_BYTES, end)),
    body: Uint8Array.from(rest.subarray(end)),
  };
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
