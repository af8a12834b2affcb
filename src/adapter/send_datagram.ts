import process from "node:process";

/** Sends one datagram to a Unix socket; a path, or `@name` for one of Linux's abstract names. Throws where that cannot be. */
export type SendDatagram = (address: string, text: string) => void;

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** `sun_path` of sockaddr_un. */
const LONGEST_ADDRESS = 107;

interface Libc {
  socket(family: number, type: number, protocol: number): number;
  sendto(fd: number, bytes: Uint8Array, flags: number, address: Uint8Array): number;
  close(fd: number): number;
}

/**
 * No runtime opens Unix datagram sockets, so libc does. The datagram comes from this process itself: a program started to send it
 * would have to be let to speak for the service, and whatever else the service starts with it.
 */
export async function datagramSender(): Promise<SendDatagram> {
  if (process.platform !== "linux") throw new Error("Unix datagrams are sent on Linux only");
  const libc = await openLibc();
  return (address, text) => {
    const target = socketAddress(address);
    const fd = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw new Error("no socket can be opened");
    try {
      const bytes = new TextEncoder().encode(text);
      const sent = libc.sendto(fd, bytes, MSG_DONTWAIT | MSG_NOSIGNAL, target);
      if (sent !== bytes.length) throw new Error(`nobody takes datagrams at ${address}`);
    } finally {
      libc.close(fd);
    }
  };
}

function socketAddress(address: string): Uint8Array {
  const path = new TextEncoder().encode(address);
  const isAbstract = address.startsWith("@");
  if ((!isAbstract && !address.startsWith("/")) || path.length > LONGEST_ADDRESS) {
    throw new Error(`${address} is not the address of a Unix socket`);
  }
  // A path ends with a NUL; an abstract name begins with one, and its length ends it.
  const bytes = new Uint8Array(2 + path.length + (isAbstract ? 0 : 1));
  new DataView(bytes.buffer).setUint16(0, AF_UNIX, true);
  bytes.set(path, 2);
  if (isAbstract) bytes[2] = 0;
  return bytes;
}

/** glibc's name, then musl's. */
const NAMES = ["libc.so.6", "libc.so"];

async function openLibc(): Promise<Libc> {
  const open = "Bun" in globalThis ? await bunLibc() : denoLibc();
  let failed: unknown;
  for (const name of NAMES) {
    try {
      return open(name);
    } catch (error) {
      failed = error;
    }
  }
  throw failed instanceof Error ? failed : new Error("there is no libc");
}

function denoLibc(): (name: string) => Libc {
  return (name) => {
    const { symbols } = Deno.dlopen(name, {
      socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
      sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
      close: { parameters: ["i32"], result: "i32" },
    });
    return {
      socket: symbols.socket,
      close: symbols.close,
      sendto: (fd, bytes, flags, address) =>
        Number(
          symbols.sendto(
            fd,
            new Uint8Array(bytes),
            BigInt(bytes.length),
            flags,
            new Uint8Array(address),
            address.length,
          ),
        ),
    };
  };
}

interface BunFfi {
  dlopen(name: string, symbols: Record<string, { args: string[]; returns: string }>): {
    symbols: Record<string, (...args: unknown[]) => number | bigint>;
  };
}

async function bunLibc(): Promise<(name: string) => Libc> {
  // Named through a variable, which Deno's compiler does not follow.
  const module = "bun:ffi";
  const { dlopen } = await import(module) as BunFfi;
  return (name) => {
    const { symbols } = dlopen(name, {
      socket: { args: ["i32", "i32", "i32"], returns: "i32" },
      sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
      close: { args: ["i32"], returns: "i32" },
    });
    const call = (symbol: string, ...args: unknown[]) => Number(symbols[symbol]?.(...args) ?? -1);
    return {
      socket: (...args) => call("socket", ...args),
      close: (fd) => call("close", fd),
      sendto: (fd, bytes, flags, address) =>
        call("sendto", fd, bytes, bytes.length, flags, address, address.length),
    };
  };
}
