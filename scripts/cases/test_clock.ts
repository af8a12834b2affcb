import { createConnection } from "node:net";
import { poll } from "./poll.ts";

/**
 * Says one line to the clock of a test binary, over the Unix socket that its environment named, and reads the one
 * line of its answer: `advance <ms>` and `step <ms>` are answered by `ok`, `now` by epoch milliseconds.
 */
export async function askTestClock(socketPath: string, line: string, timeoutMs: number): Promise<string> {
  let last = "";
  const answer = await poll(timeoutMs, async () => {
    try {
      return await askOnce(socketPath, line, timeoutMs);
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  });
  if (answer === undefined) throw new Error(`the test clock did not answer "${line}": ${last}`);
  return answer;
}

/** Tried again only while nothing listens: a line that was taken is never said twice. */
async function askOnce(socketPath: string, line: string, timeoutMs: number): Promise<string | undefined> {
  return await new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    let connected = false;
    let received = "";
    const timer = setTimeout(() => {
      resolve("(nothing)");
      socket.destroy();
    }, timeoutMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    socket.setEncoding("utf8");
    socket.on("connect", () => {
      connected = true;
      socket.write(`${line}\n`);
    });
    socket.on("data", (chunk: string) => {
      received += chunk;
      const at = received.indexOf("\n");
      if (at >= 0) end(() => resolve(received.slice(0, at)));
    });
    socket.on("error", (error) => end(() => connected ? resolve(`(${error.message})`) : reject(error)));
    socket.on("close", () => end(() => connected ? resolve("(closed)") : resolve(undefined)));
  });
}
