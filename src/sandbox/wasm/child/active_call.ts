import type { AnswerHead, AskHead, CallHead } from "../protocol.ts";
import type { Budget } from "./budget.ts";

/** The call that an instance is busy with; its host functions look here. */
export interface ActiveCall {
  head: CallHead;
  input: Uint8Array;
  budget: Budget;
  /** Asks reyn and waits. */
  ask(head: AskHead, body?: Uint8Array): { head: AnswerHead; body: Uint8Array };
  /** Milliseconds since 1970. */
  now(): number;
  /** Put out so far by a WASI program on stdout. */
  stdout: Uint8Array[];
  stdoutBytes: number;
}

/** What lasts as long as an instance. */
export interface Live {
  call: ActiveCall | undefined;
  memory: WebAssembly.Memory | undefined;
}

/** The call; a host function is never called outside of one, except by a fault of ours. */
export function activeCall(live: Live): ActiveCall {
  if (!live.call) throw new Error("a host function was called outside of a call");
  return live.call;
}
