import process from "node:process";
import { ignoredSignals } from "../adapter/ignored_signals.ts";
import type { Clock } from "../clock/clock.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { errorOf, type ServerClient } from "../server/client.ts";
import { remoteInterventions } from "../server/remote_interventions.ts";
import { attachTerminal } from "./attach_terminal.ts";
import type { HeldOutput } from "./held_output.ts";
import type { GlobalOptions } from "./host.ts";

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** Signals while a verb shows what a server does: they end the showing. */
interface DetachSignals {
  detached: AbortSignal;
  /** Number of the first one; 0: none came. */
  received(): number;
  dispose(): void;
}

function detachOnSignals(): DetachSignals {
  const detached = new AbortController();
  let received = 0;
  const ignored = ignoredSignals();
  const handlers = Object.entries(SIGNALS).filter(([, number]) => !ignored.has(number)).map(
    ([name, number]) => {
      const handler = () => {
        received ||= number;
        detached.abort();
      };
      process.on(name, handler);
      return { name, handler };
    },
  );
  return {
    detached: detached.signal,
    received: () => received,
    dispose() {
      for (const { name, handler } of handlers) process.off(name, handler);
    },
  };
}

/** Throws E_USAGE for `--no-hooks`, which a server has been started with or not. */
export function requireHooks({ hooks }: GlobalOptions): void {
  if (hooks) return;
  throw new ReynError("E_USAGE", "--no-hooks is not for a session of a server that runs", {
    fix: "stop the server, or start it with --no-hooks",
    exitCode: EXIT.usage,
  });
}

export interface ShownThroughServer extends AskHereOptions {
  /** Of a call that answers with a stream. */
  path: string;
  body: unknown;
  /** The event that refuses it, with an error. */
  refusal: string;
  /** Told of each other event; `text` is it as JSON. */
  each(type: string, event: unknown, text: string): void;
}

/**
 * Shows what a server does, with its questions on this terminal, until it has told all or a signal comes. Answers the number of
 * that signal, or 0. Throws what it was refused with.
 */
export async function showThroughServer(options: ShownThroughServer): Promise<number> {
  const { client, path, body, refusal, each } = options;
  const signals = detachOnSignals();
  let detach = () => {};
  try {
    // The first hook's question may come at once.
    detach = await askHere(options);
    for await (const { type, data } of client.stream(path, body, signals.detached)) {
      const event: unknown = JSON.parse(data);
      if (type === refusal) throw errorOf(event) ?? new ReynError("E_INTERNAL", "the server failed");
      each(type, event, data);
    }
  } catch (error) {
    if (signals.received() === 0) throw error;
  } finally {
    detach();
    signals.dispose();
  }
  return signals.received();
}

export interface AskHereOptions {
  client: ServerClient;
  /** `<agent>/<sid>`. */
  session: string;
  output: HeldOutput;
  talk: (line: string) => void;
  json: boolean;
  /** stdin was read to its end, as the message. */
  stdinRead: boolean;
  clock: Clock;
}

/** Asks the questions of a session of a server on this terminal, if it is one; resolves when the server knows. The function ends it. */
async function askHere(
  { client, session, output, talk, json, stdinRead, clock }: AskHereOptions,
): Promise<() => void> {
  const onProblem = (said: string) => talk(`questions are not asked here: ${said}\n`);
  const interventions = remoteInterventions({ client, session, clock, onProblem });
  const detach = attachTerminal({ interventions, output, json, stdinRead, clock });
  await interventions.ready();
  return detach;
}
