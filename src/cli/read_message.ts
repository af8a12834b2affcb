import { createReadStream } from "node:fs";
import { Buffer } from "node:buffer";
import { stat } from "node:fs/promises";
import process from "node:process";
import { ReynError } from "../errors/reyn_error.ts";
import { LONGEST_MESSAGE } from "../session/messages.ts";

/** Bytes of a message: as many as the longest one may have characters. */
const MOST_BYTES = LONGEST_MESSAGE;

/** The message that the command line names, from the argument, a file or stdin; undefined when it names none. */
export async function readMessage(
  message: string | undefined,
  file: string | undefined,
): Promise<string | undefined> {
  if (file !== undefined && message !== undefined) {
    throw new ReynError("E_USAGE", "give a message or --file, not both", { exitCode: 2 });
  }
  const text = file !== undefined
    ? await readFileText(file)
    : message === "-"
    ? await readText(process.stdin, "stdin")
    : undefined;
  if (text !== undefined) {
    if (text.trim() === "") throw new ReynError("E_USAGE", `${file ?? "stdin"} is empty`, { exitCode: 2 });
    return text;
  }
  if (message !== undefined && message.trim() === "") {
    throw new ReynError("E_USAGE", "the message is empty", { exitCode: 2 });
  }
  return message;
}

/** All of a file, or of stdin for `-`, as text of at most as many bytes as a message. */
export async function readInput(file: string): Promise<string> {
  return file === "-" ? await readText(process.stdin, "stdin") : await readFileText(file);
}

async function readFileText(file: string): Promise<string> {
  const info = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new ReynError("E_FILE_UNREADABLE", `${file} cannot be read: ${reasonOf(error)}`);
  });
  if (info.isDirectory()) throw new ReynError("E_FILE_NOT_REGULAR", `${file} is a folder, not a file`);
  return await readText(createReadStream(file), file);
}

async function readText(stream: AsyncIterable<unknown>, name: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of stream) {
      const bytes = part as Uint8Array;
      length += bytes.byteLength;
      if (length > MOST_BYTES) {
        throw new ReynError("E_MESSAGE_TOO_LARGE", `${name} holds more than ${MOST_BYTES} bytes`);
      }
      parts.push(bytes);
    }
  } catch (error) {
    if (error instanceof ReynError) throw error;
    throw new ReynError("E_FILE_UNREADABLE", `${name} cannot be read: ${reasonOf(error)}`);
  }
  return decode(parts, name);
}

function decode(parts: readonly Uint8Array[], name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw new ReynError("E_FILE_ENCODING", `${name} is not UTF-8 text`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
