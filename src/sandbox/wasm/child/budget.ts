import { BLOCK_COST_BYTES, KEPT_LOG_BYTES } from "../limits.ts";
import { type Denied, type InnerOutcome, MOST_DENIED, MOST_TARGET } from "../protocol.ts";

/** Thrown through the plugin to end its call. One that it catches does not help it: every later call of the host throws again. */
export class Exceeded extends Error {}

export type LimitOutcome = Extract<InnerOutcome, `${string}_limit`>;

/** What one call of a plugin may still use, and what is known of it so far. */
export interface Budget {
  /** One call of a host function. */
  spend(): void;
  /** So many bytes that the host holds for the plugin. */
  allocate(bytes: number): void;
  log(line: Uint8Array | string): void;
  deny(denied: Denied): void;
  /** Ends the call. */
  exceed(outcome: LimitOutcome, reason: string): never;
  readonly exceeded: { outcome: LimitOutcome; reason: string } | undefined;
  readonly hostCalls: number;
  readonly denied: readonly Denied[];
  readonly deniedMore: number;
  /** The end of the log. */
  logText(): string;
}

export interface BudgetLimits {
  allocBytes: number;
  logLines: number;
  logBytes: number;
  hostCalls: number;
}

const decoder = new TextDecoder();

export function openBudget(limits: BudgetLimits): Budget {
  let hostCalls = 0;
  let allocated = 0;
  let lines = 0;
  let bytes = 0;
  let kept = "";
  let exceeded: Budget["exceeded"];
  const denied: Denied[] = [];
  let deniedMore = 0;

  const exceed = (outcome: LimitOutcome, reason: string): never => {
    exceeded ??= { outcome, reason };
    throw new Exceeded(exceeded.reason);
  };
  const stillAllowed = () => {
    if (exceeded) throw new Exceeded(exceeded.reason);
  };
  return {
    spend() {
      stillAllowed();
      hostCalls += 1;
      if (hostCalls > limits.hostCalls) {
        exceed("call_limit", `it called the host more than ${limits.hostCalls} times`);
      }
    },
    allocate(size) {
      stillAllowed();
      if (!(size >= 0)) exceed("memory_limit", "it asked the host for a negative number of bytes");
      allocated += size + BLOCK_COST_BYTES;
      if (allocated > limits.allocBytes) {
        exceed("memory_limit", `the host was to hold more than ${limits.allocBytes} bytes for it`);
      }
    },
    log(line) {
      lines += 1;
      bytes += line.length;
      if (lines > limits.logLines) exceed("log_limit", `it logged more than ${limits.logLines} lines`);
      if (bytes > limits.logBytes) exceed("log_limit", `it logged more than ${limits.logBytes} bytes`);
      const text = typeof line === "string" ? line : decoder.decode(line);
      kept = `${kept}${text.trimEnd()}\n`.slice(-KEPT_LOG_BYTES);
    },
    deny(one) {
      if (denied.length < MOST_DENIED) denied.push({ ...one, target: one.target.slice(0, MOST_TARGET) });
      else deniedMore += 1;
    },
    exceed,
    get exceeded() {
      return exceeded;
    },
    get hostCalls() {
      return hostCalls;
    },
    denied,
    get deniedMore() {
      return deniedMore;
    },
    logText: () => kept,
  };
}
