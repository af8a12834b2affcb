import { Buffer } from "node:buffer";
import { encodeFrame, type Frame, KIND } from "./frames.ts";
import { INNER_OUTCOMES, type ResultHead, type ResultWords } from "./protocol.ts";

/** Outcome (u8), return code (i32), calls of the host (u32), memory (u32), before the output; little endian. */
const NUMBERS_BYTES = 13;
const MOST_U32 = 2 ** 32 - 1;
const NO_WORDS: ResultWords = { reason: null, error: null, log: "", denied: [], deniedMore: 0 };

/** A result as a frame: most have nothing to say, so that its words are written only where there are some. */
export function encodeResult(head: ResultHead, output: Uint8Array): Uint8Array {
  const numbers = Buffer.allocUnsafe(NUMBERS_BYTES);
  numbers[0] = INNER_OUTCOMES.indexOf(head.outcome);
  numbers.writeInt32LE(head.returncode, 1);
  numbers.writeUInt32LE(Math.min(head.hostCalls, MOST_U32), 5);
  numbers.writeUInt32LE(Math.min(head.memoryBytes, MOST_U32), 9);
  const { reason, error, log, denied, deniedMore } = head;
  const isSilent = reason === null && error === null && log === "" && denied.length === 0;
  const words = isSilent ? undefined : { reason, error, log, denied, deniedMore };
  return encodeFrame(KIND.result, words, numbers, output);
}

/**
 * The result in a frame; undefined for what is none. It comes from where a plugin runs, so nothing in it is believed; `readWords` checks
 * its words.
 */
export function decodeResult(
  { head, body }: Frame,
  readWords: (text: string) => ResultWords | undefined,
): { head: ResultHead; output: Uint8Array } | undefined {
  if (body.length < NUMBERS_BYTES) return undefined;
  const outcome = INNER_OUTCOMES[body[0] ?? INNER_OUTCOMES.length];
  const words = head === "" ? NO_WORDS : readWords(head);
  if (outcome === undefined || words === undefined) return undefined;
  const numbers = Buffer.from(body.buffer, body.byteOffset, NUMBERS_BYTES);
  return {
    head: {
      outcome,
      returncode: numbers.readInt32LE(1),
      hostCalls: numbers.readUInt32LE(5),
      memoryBytes: numbers.readUInt32LE(9),
      ...words,
    },
    output: body.subarray(NUMBERS_BYTES),
  };
}
