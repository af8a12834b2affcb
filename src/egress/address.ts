import { isIPv4, isIPv6 } from "node:net";

/** An IP address: 4 or 16 bytes. */
export type Address = Uint8Array;

/** What kind of address it is; `public` are those that the whole Internet routes. */
export type AddressClass =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "shared"
  | "link_local"
  | "metadata"
  | "multicast"
  | "reserved";

export interface Network {
  bytes: Address;
  /** Leading bits that count. */
  bits: number;
}

/**
 * Reads an address in its usual spelling: dotted decimal, or IPv6 without a zone. IPv4 inside IPv6 (`::ffff:1.2.3.4` and NAT64's
 * `64:ff9b::1.2.3.4`) reads as the IPv4 address, since that is what is connected to. Undefined for anything else.
 */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split("."), Number);
  const bytes = isIPv6(text) && !text.includes("%") ? sixteenBytes(text) : undefined;
  if (!bytes) return undefined;
  const holdsIPv4 = EMBEDDING.some((network) => isIn(bytes, network));
  return holdsIPv4 ? bytes.subarray(12) : bytes;
}

function sixteenBytes(text: string): Address | undefined {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  let hex = text;
  if (dotted) {
    const [a = 0, b = 0, c = 0, d = 0] = (dotted[2] ?? "").split(".").map(Number);
    hex = `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const [head = "", tail] = hex.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill("0"), ...right];
  if (groups.length !== 8) return undefined;
  return Uint8Array.from(groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  }));
}

/** Reads `10.0.0.0/8` or a single address; undefined for anything else, bits beyond the prefix included. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = "", prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = parseAddress(address);
  if (!bytes) return undefined;
  const longest = bytes.length * 8;
  if (prefix === undefined) return { bytes, bits: longest };
  // An IPv4 address inside IPv6 has a prefix of another length than it says.
  if (bytes.length === 4 && address.includes(":")) return undefined;
  const bits = Number(prefix);
  if (bits > longest) return undefined;
  const network = { bytes, bits };
  const isClean = bytes.every((byte, i) => (byte & ~maskAt(bits, i) & 0xff) === 0);
  return isClean ? network : undefined;
}

function maskAt(bits: number, index: number): number {
  const covered = Math.min(8, Math.max(0, bits - index * 8));
  return (0xff << (8 - covered)) & 0xff;
}

export function isIn(address: Address, { bytes, bits }: Network): boolean {
  if (address.length !== bytes.length) return false;
  return bytes.every((byte, i) => ((byte ^ (address[i] ?? 0)) & maskAt(bits, i)) === 0);
}

function raw(text: string): Network {
  const [address = "", bits] = text.split("/");
  const bytes = isIPv4(address) ? Uint8Array.from(address.split("."), Number) : sixteenBytes(address);
  if (!bytes) throw new Error(`not a network: ${text}`);
  return { bytes, bits: bits === undefined ? bytes.length * 8 : Number(bits) };
}

/** Networks of IPv6 whose last four bytes are the IPv4 address that is meant. */
const EMBEDDING = [raw("::ffff:0:0/96"), raw("64:ff9b::/96")];

/** The first that holds the address counts; from the IANA registries of special-purpose addresses. */
const SPECIAL: readonly (readonly [AddressClass, readonly Network[]])[] = ([
  // Services that hand out a machine's credentials; the last two of IPv4 lie in public space.
  ["metadata", ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"]],
  ["metadata", ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"]],
  ["unspecified", ["0.0.0.0/8", "::/128"]],
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"]],
  ["shared", ["100.64.0.0/10"]],
  ["link_local", ["169.254.0.0/16", "fe80::/10"]],
  ["multicast", ["224.0.0.0/4", "ff00::/8"]],
  ["reserved", ["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"]],
  ["reserved", ["203.0.113.0/24", "240.0.0.0/4"]],
  // Teredo and 6to4 lead to an IPv4 address of somebody's choice.
  ["reserved", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]],
] satisfies [AddressClass, string[]][]).map(([name, networks]) => [name, networks.map(raw)]);

const GLOBAL_UNICAST = raw("2000::/3");

export function classify(address: Address): AddressClass {
  const special = SPECIAL.find(([, networks]) => networks.some((network) => isIn(address, network)));
  if (special) return special[0];
  return address.length === 4 || isIn(address, GLOBAL_UNICAST) ? "public" : "reserved";
}
