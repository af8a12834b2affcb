import { Buffer } from "node:buffer";
import { type ActiveCall, activeCall, type Live } from "../active_call.ts";
import { Exceeded } from "../budget.ts";
import type { GrantedFolder } from "../../protocol.ts";
import { openDescriptors } from "./descriptors.ts";
import { ERRNO, errnoOf, WasiError } from "./errno.ts";
import { fileCalls } from "./file_calls.ts";
import { type GuestMemory, guestMemory } from "./guest_memory.ts";

/** Thrown by `proc_exit`; ends the call with its code. */
export class ProgramExit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

export interface Wasi {
  /** To be imported. */
  functions: Record<string, (...values: (number | bigint)[]) => number>;
  close(): void;
}

const CLOCK = { real: 0, monotonic: 1 } as const;
const NS_PER_MS = 1e6;
const MOST_SUBSCRIPTIONS = 64;
const SUBSCRIPTION_BYTES = 48;
const EVENT_BYTES = 32;
const MOST_RANDOM = 65_536;

/**
 * WASI preview 1 for one instance: the event as stdin, stdout and stderr as its log, its granted folders, and of the environment only
 * what the call gives. The same on every runtime.
 */
export function openWasi(live: Live, folders: readonly GrantedFolder[]): Wasi {
  const memory = guestMemory(live);
  const table = openDescriptors(
    folders,
    (axis, target, reason) => activeCall(live).budget.deny({ axis, target, reason }),
  );
  const calls: Record<string, (...values: never[]) => unknown> = {
    ...fileCalls(table, memory, {
      stdin: () => activeCall(live).input,
      stdout: (bytes) => putOut(activeCall(live), bytes),
      stderr: (bytes) => activeCall(live).budget.log(bytes),
    }),
    ...surroundings(live, memory),
  };
  return {
    functions: Object.fromEntries(
      Object.entries(calls).map(([name, call]) => [name, guarded(live, call)]),
    ),
    close: () => table.closeAll(),
  };
}

/** Errors as numbers; what ends the call goes on. */
function guarded(live: Live, call: (...values: never[]) => unknown) {
  return (...values: (number | bigint)[]): number => {
    activeCall(live).budget.spend();
    try {
      (call as (...all: (number | bigint)[]) => unknown)(...values);
      return ERRNO.success;
    } catch (error) {
      if (error instanceof Exceeded || error instanceof ProgramExit) throw error;
      return errnoOf(error);
    }
  };
}

function putOut(call: ActiveCall, bytes: Uint8Array): void {
  if (call.head.export !== "_start") return call.budget.log(bytes);
  call.stdoutBytes += bytes.length;
  if (call.head.outputBytes === 0) return;
  if (call.stdoutBytes > call.head.outputBytes) {
    call.budget.exceed("output_limit", `its output is over ${call.head.outputBytes} bytes`);
  }
  call.stdout.push(Uint8Array.from(bytes));
}

/** The calls that are not about files. */
function surroundings(live: Live, memory: GuestMemory) {
  const writeList = (texts: readonly string[], pointers: number, at: number) => {
    let next = at;
    texts.forEach((text, i) => {
      const bytes = Buffer.from(`${text}\0`);
      memory.u32(pointers + i * 4, next);
      memory.bytes(next, bytes.length).set(bytes);
      next += bytes.length;
    });
  };
  const writeSizes = (texts: readonly string[], count: number, size: number) => {
    memory.u32(count, texts.length);
    memory.u32(size, texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0));
  };
  const args = () => ["plugin", ...activeCall(live).head.args];
  const variables = () =>
    Object.entries(activeCall(live).head.env).map(([name, value]) => `${name}=${value}`);
  const time = (clock: number): bigint => {
    if (clock === CLOCK.real) return BigInt(Math.round(activeCall(live).now() * 1000)) * 1000n;
    if (clock === CLOCK.monotonic) return BigInt(Math.round(performance.now() * NS_PER_MS));
    throw new WasiError(ERRNO.inval);
  };
  const noSocket = (): never => {
    throw new WasiError(ERRNO.notsup);
  };
  return {
    args_get: (pointers: number, at: number) => writeList(args(), pointers, at),
    args_sizes_get: (count: number, size: number) => writeSizes(args(), count, size),
    environ_get: (pointers: number, at: number) => writeList(variables(), pointers, at),
    environ_sizes_get: (count: number, size: number) => writeSizes(variables(), count, size),
    clock_res_get: (clock: number, at: number) => {
      time(clock);
      memory.u64(at, 1000n);
    },
    clock_time_get: (clock: number, _precision: bigint, at: number) => memory.u64(at, time(clock)),
    random_get(at: number, length: number) {
      const size = length >>> 0;
      if (size > MOST_RANDOM) throw new WasiError(ERRNO.inval);
      memory.bytes(at, length).set(crypto.getRandomValues(new Uint8Array(size)));
    },
    sched_yield: () => {},
    proc_exit(code: number) {
      throw new ProgramExit(code);
    },
    proc_raise: noSocket,
    sock_accept: noSocket,
    sock_recv: noSocket,
    sock_send: noSocket,
    sock_shutdown: noSocket,
    poll_oneoff(list: number, out: number, count: number, result: number) {
      if (count < 1 || count > MOST_SUBSCRIPTIONS) throw new WasiError(ERRNO.inval);
      const subscriptions = Array.from({ length: count }, (_, i) => {
        const view = memory.view(list + i * SUBSCRIPTION_BYTES, SUBSCRIPTION_BYTES);
        const tag = view.getUint8(8);
        const isAbsolute = (view.getUint16(40, true) & 1) !== 0;
        const timeout = view.getBigUint64(24, true);
        const waitNs = tag === 0 && isAbsolute ? timeout - time(view.getUint32(16, true)) : timeout;
        return { user: view.getBigUint64(0, true), tag, waitMs: tag === 0 ? Number(waitNs) / NS_PER_MS : 0 };
      });
      const shortest = Math.min(...subscriptions.map(({ waitMs }) => waitMs));
      // reyn ends the process at the call's deadline.
      if (shortest > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, shortest);
      const ready = subscriptions.filter(({ waitMs }) => waitMs <= shortest);
      ready.forEach(({ user, tag }, i) => {
        const view = memory.view(out + i * EVENT_BYTES, EVENT_BYTES);
        new Uint8Array(view.buffer, view.byteOffset, EVENT_BYTES).fill(0);
        view.setBigUint64(0, user, true);
        view.setUint8(10, tag);
      });
      memory.u32(result, ready.length);
    },
  };
}
