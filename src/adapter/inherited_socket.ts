import net, { type Socket } from "node:net";
import process from "node:process";

/** The socket that this process was given as a descriptor: what the parent has as `stdio[fd]`. */
export function inheritedSocket(fd: number): Socket {
  // Each runtime knows one of the two ways.
  if (process.versions.bun === undefined) return new net.Socket({ fd, readable: true, writable: true });
  return net.connect({ fd } as unknown as { path: string });
}
