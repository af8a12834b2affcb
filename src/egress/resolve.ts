import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";

/** Looks a name up: its addresses as text. Rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** As the machine's own programs look names up: /etc/hosts, then DNS. */
export const systemResolve: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

/** The addresses of this machine's interfaces. */
export function systemAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
