import { residentMemory } from "../../adapter/resident_memory.ts";
import type { Clock } from "../../clock/clock.ts";
import type { ConfinedChild } from "../linux/confined_child.ts";
import { askHead, helloAnswer, parseHead, resultWords } from "./check_protocol.ts";
import { encodeFrame, type Frame, frameReader, GREETING, KIND, PROTOCOL } from "./frames.ts";
import {
  type AnswerHead,
  type AskHead,
  type CallHead,
  MOST_FRAME_FROM_CHILD,
  type ResultHead,
} from "./protocol.ts";
import { decodeResult } from "./result_frame.ts";

export interface Module {
  /** SHA-256 in hex, of exactly these bytes. */
  hash: string;
  bytes: Uint8Array;
}

export interface ChildCall {
  head: CallHead;
  module: Module;
  input: Uint8Array;
  answer(question: AskHead, body: Uint8Array): Promise<Answer> | Answer;
}

export interface Answer {
  head: AnswerHead;
  body?: Uint8Array;
}

export type ChildResult =
  | { status: "done"; head: ResultHead; output: Uint8Array }
  /** The process went, or said what it may not say, and is gone. */
  | { status: "gone"; reason: string };

/** One process in which plugins run, one call at a time. */
export interface PluginChild {
  /** Undefined once it can be called; else why it cannot. */
  ready: Promise<string | undefined>;
  /** Whether it has the module already, which makes a call cheaper. */
  has(hash: string): boolean;
  call(call: ChildCall): Promise<ChildResult>;
  kill(): void;
  /** Whether it is still there to be called. */
  usable(): boolean;
  /** What it holds of the machine's memory right now, in bytes. */
  residentBytes(): number;
  /** Settles when nothing of it is left. */
  ended: Promise<unknown>;
}

/** To start and load what runs plugins. */
const START_MS = 20_000;
/** Modules that one process holds. */
const MOST_MODULES = 16;

export function talkTo(
  child: ConfinedChild,
  { files, clock }: { files: boolean; clock: Clock },
): PluginChild {
  const unframe = frameReader(MOST_FRAME_FROM_CHILD);
  const modules = new Set<string>();
  let current:
    | { call: ChildCall; settle(result: ChildResult): void; asking: boolean; asked: number }
    | undefined;
  let greeted: ((problem: string | undefined) => void) | undefined;
  let broken: string | undefined;
  let silent = false;
  /** Said before anything of a plugin's is there. */
  let pid: number | undefined;

  const send = (frame: Uint8Array) => void child.stdin.write(frame);
  const giveUp = (reason: string) => {
    broken ??= reason;
    child.kill();
  };
  const answer = async (asking: NonNullable<typeof current>, question: AskHead, body: Uint8Array) => {
    const given = await asking.call.answer(question, body);
    asking.asking = false;
    if (current === asking && broken === undefined) {
      send(encodeFrame(KIND.answer, given.head, ...(given.body ? [given.body] : [])));
    }
  };
  const take = (frame: Frame) => {
    if (frame.kind === KIND.hello && greeted) {
      const answer = parseHead(helloAnswer, frame.head);
      pid = answer?.pid;
      const problem = answer ? undefined : "it does not speak as a plugin's process does";
      if (problem !== undefined) giveUp(problem);
      greeted(problem);
      greeted = undefined;
    } else if (frame.kind === KIND.result && current && !current.asking) {
      const result = decodeResult(frame, (text) => parseHead(resultWords, text));
      if (!result || result.output.length > current.call.head.outputBytes) {
        return giveUp("its process sent what is no result");
      }
      const { settle } = current;
      current = undefined;
      settle({ status: "done", ...result });
    } else if (frame.kind === KIND.ask && current && !current.asking) {
      current.asked += 1;
      // It counts by itself, unless it is no longer what reyn started.
      if (current.asked > current.call.head.hostCalls) return giveUp("its process asked too often");
      const question = parseHead(askHead, frame.head);
      if (!question) return giveUp("its process asked what cannot be asked");
      current.asking = true;
      answer(current, question, frame.body).catch(() => giveUp("a question of its could not be answered"));
    } else {
      giveUp("its process spoke out of turn");
    }
  };
  child.stdout.on("data", (chunk: Uint8Array) => {
    if (broken !== undefined) return;
    const read = unframe(chunk);
    if (!read.ok) return giveUp("its process sent what is no frame");
    for (const frame of read.frames) if (broken === undefined) take(frame);
  });
  // Nothing more can be heard from it. Why that is, is known when it has ended.
  child.stdout.on("end", () => {
    silent = true;
    child.kill();
  });

  const ready = new Promise<string | undefined>((resolve) => {
    const cancel = clock.after(START_MS, () => {
      giveUp("its process does not start in time");
    });
    greeted = (problem) => {
      cancel();
      resolve(problem);
    };
  });
  const ended = child.ended.then((reason) => {
    broken ??= reason;
    greeted?.(broken);
    greeted = undefined;
    const { settle } = current ?? {};
    current = undefined;
    settle?.({ status: "gone", reason: broken });
  });
  send(encodeFrame(KIND.hello, { greeting: GREETING, protocol: PROTOCOL, files }));

  return {
    ready,
    has: (hash) => modules.has(hash),
    call(call) {
      if (broken !== undefined) return Promise.resolve({ status: "gone", reason: broken });
      const { hash, bytes } = call.module;
      if (!modules.has(hash)) {
        const [oldest] = modules;
        if (modules.size >= MOST_MODULES && oldest !== undefined) {
          send(encodeFrame(KIND.forget, { hash: oldest }));
          modules.delete(oldest);
        }
        send(encodeFrame(KIND.module, { hash }, bytes));
      }
      // The one used last stands last.
      modules.delete(hash);
      modules.add(hash);
      send(encodeFrame(KIND.call, call.head, call.input));
      return new Promise((settle) => (current = { call, settle, asking: false, asked: 0 }));
    },
    kill: () => giveUp("reyn ended it"),
    usable: () => broken === undefined && !silent,
    residentBytes: () => pid === undefined || broken !== undefined ? 0 : residentMemory(pid) ?? 0,
    ended,
  };
}
