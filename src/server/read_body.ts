import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { failure } from "./api_error.ts";

/** Bodies that are being read hold at most so much together. */
const MOST_TOGETHER = 256 * 1024 * 1024;

export interface BodyReader {
  /** The JSON value of a request's body. Throws HttpFailure 400, 413, 415 or 503. */
  read(request: IncomingMessage, limit: number): Promise<unknown>;
}

export function bodyReader(): BodyReader {
  let together = 0;
  return {
    async read(request, limit) {
      const type = request.headers["content-type"] ?? "";
      if (!/^application\/json\s*(;|$)/i.test(type)) {
        throw failure(415, "E_HTTP_TYPE", "the body has to be JSON", "send `content-type: application/json`");
      }
      const declared = Number(request.headers["content-length"] ?? 0);
      if (declared > limit) throw tooLarge(limit);
      let size = 0;
      try {
        return parse(
          await collect(request, (bytes) => {
            size += bytes;
            together += bytes;
            if (size > limit) throw tooLarge(limit);
            if (together > MOST_TOGETHER) {
              throw failure(503, "E_HTTP_BUSY", "too many large requests are under way");
            }
          }),
        );
      } finally {
        together -= size;
      }
    },
  };
}

/** The pieces of a body. When `count` throws, what is still to come is the server's to drop. */
function collect(request: IncomingMessage, count: (bytes: number) => void): Promise<Uint8Array[]> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    const finish = () => resolve(parts);
    const cut = () => reject(failure(400, "E_HTTP_BODY", "the body ended too soon"));
    const take = (part: Uint8Array) => {
      try {
        count(part.byteLength);
        parts.push(part);
      } catch (error) {
        request.off("data", take).off("end", finish).off("close", cut);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    request.on("data", take);
    request.once("end", finish);
    request.once("error", reject);
    request.once("close", cut);
  });
}

function parse(parts: readonly Uint8Array[]): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(
      parts.length === 1 ? parts[0] : Buffer.concat(parts),
    );
  } catch {
    throw failure(400, "E_HTTP_BODY", "the body is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw failure(400, "E_HTTP_BODY", "the body is not JSON");
  }
}

function tooLarge(limit: number): Error {
  return failure(413, "E_HTTP_TOO_LARGE", `the body is larger than ${limit} bytes`);
}
