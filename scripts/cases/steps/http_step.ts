import { Buffer } from "node:buffer";
import { request } from "node:http";
import type { StepOf } from "../format.ts";
import { textMismatch } from "../match_text.ts";
import { contentBytes } from "../values.ts";
import type { World } from "../world.ts";
import { StepFailure } from "./failure.ts";
import { STEP_TIMEOUT_MS } from "./process_steps.ts";
import { tail } from "../diff.ts";

/** For an answer to be read that a server gave to a request it would not read. */
const ANSWER_AFTER_MS = 2_000;

interface Response {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** One request, without following redirects; a status is expected to be 200 unless the case says otherwise. */
export async function httpStep(world: World, step: StepOf<"http">): Promise<void> {
  const { url, timeout = STEP_TIMEOUT_MS } = step.http;
  const headers: Record<string, string> = {};
  let body: Buffer | undefined;
  if (step.http.json !== undefined) {
    body = Buffer.from(JSON.stringify(step.http.json));
    headers["content-type"] = "application/json";
  } else if (step.http.body !== undefined) body = await contentBytes(step.http.body, world.caseFolder);
  const method = step.http.method ?? (body ? "POST" : "GET");
  const response = await fetchOnce(url, method, { ...headers, ...step.http.headers }, body, timeout)
    .catch((error: unknown) => {
      throw new StepFailure(`${method} ${url}: ${error instanceof Error ? error.message : String(error)}`);
    });

  const problems: string[] = [];
  const status = step.expect?.status ?? 200;
  if (response.status !== status) problems.push(`status is ${response.status}, not ${status}`);
  for (const [name, matcher] of Object.entries(step.expect?.headers ?? {})) {
    const problem = textMismatch(response.headers[name.toLowerCase()] ?? "", matcher);
    if (problem) problems.push(`header ${name} ${problem}`);
  }
  const problem = step.expect?.body && textMismatch(response.body, step.expect.body, { looseEnd: true });
  if (problem) problems.push(`body ${problem}`);
  if (problems.length > 0) throw new StepFailure(`${problems.join("\n")}\n  body:\n${tail(response.body)}`);
}

function fetchOnce(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: Buffer | undefined,
  timeoutMs: number,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const sent = request(url, { method, headers, agent: false }, (answer) => {
      answered = true;
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        clearTimeout(timer);
        const flat = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(", ")]);
        resolve({
          status: answer.statusCode ?? 0,
          headers: Object.fromEntries(flat),
          body: Buffer.concat(chunks).toString("utf8"),
        });
      });
    });
    const timer = setTimeout(
      () => sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    sent.on("error", (error) => {
      const fail = () => {
        clearTimeout(timer);
        reject(error);
      };
      const code: unknown = Reflect.get(error, "code");
      if (code !== "EPIPE" && code !== "ECONNRESET") return fail();
      // A server may answer before it has read all; what cannot be sent then is no failure, and may be told first.
      if (!answered) setTimeout(() => answered || fail(), ANSWER_AFTER_MS);
    });
    sent.end(body);
  });
}
