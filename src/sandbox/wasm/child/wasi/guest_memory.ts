import type { Live } from "../active_call.ts";
import { ERRNO, WasiError } from "./errno.ts";

const decoder = new TextDecoder();

/** The guest's memory as WASI's functions read and write it. Throws EFAULT beyond its end, or where the module exports none. */
export function guestMemory(live: Live) {
  const buffer = (): ArrayBuffer => {
    const held = live.memory?.buffer;
    if (!(held instanceof ArrayBuffer)) throw new WasiError(ERRNO.fault);
    return held;
  };
  /** Addresses come as signed numbers. */
  const bytes = (at: number, length: number): Uint8Array => {
    const whole = buffer();
    const from = at >>> 0;
    const size = length >>> 0;
    if (from + size > whole.byteLength) throw new WasiError(ERRNO.fault);
    return new Uint8Array(whole, from, size);
  };
  const view = (at: number, length: number): DataView => {
    const part = bytes(at, length);
    return new DataView(part.buffer, part.byteOffset, part.byteLength);
  };
  return {
    bytes,
    view,
    u8: (at: number, value: number) => view(at, 1).setUint8(0, value),
    u16: (at: number, value: number) => view(at, 2).setUint16(0, value, true),
    u32: (at: number, value: number) => view(at, 4).setUint32(0, value, true),
    u64: (at: number, value: bigint) => view(at, 8).setBigUint64(0, value, true),
    text: (at: number, length: number) => decoder.decode(bytes(at, length)),
    /** A list of buffers: `{address u32, length u32}` each. */
    buffers(at: number, count: number): Uint8Array[] {
      if (count >>> 0 > 1024) throw new WasiError(ERRNO.inval);
      const list = view(at, count * 8);
      return Array.from(
        { length: count },
        (_, i) => bytes(list.getUint32(i * 8, true), list.getUint32(i * 8 + 4, true)),
      );
    },
  };
}

export type GuestMemory = ReturnType<typeof guestMemory>;
