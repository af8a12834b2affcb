import { type Address, parseAddress } from "./address.ts";
import { type Allow, judgeAddress, type Target } from "./allow.ts";
import type { Resolve } from "./resolve.ts";
import type { FailureCode, RefusalReason } from "./result.ts";

/** Addresses of one name that are considered. */
const MOST_ADDRESSES = 16;

export interface Pinned {
  address: string;
  family: 4 | 6;
}

export type Found =
  | { ok: true; addresses: readonly [Pinned, ...Pinned[]] }
  | { ok: false; outcome: "refused"; reason: RefusalReason; detail: string }
  | { ok: false; outcome: "failed"; code: FailureCode; detail: string };

/**
 * The addresses of a host that may be connected to. One that may not refuses the host as a whole: a name with a public and a private
 * address is either misconfigured or an attempt.
 */
export async function findAddresses(
  target: Target,
  allow: Allow,
  ports: { resolve: Resolve; ownAddresses: () => readonly string[] },
): Promise<Found> {
  const literal = parseAddress(target.host);
  const texts = literal ? [target.host] : await resolved(target.host, ports.resolve);
  if (!texts) {
    return { ok: false, outcome: "failed", code: "dns", detail: `${target.host} could not be looked up` };
  }
  const own = ports.ownAddresses().flatMap((text) => parseAddress(text) ?? []);
  const addresses: Pinned[] = [];
  for (const text of texts.slice(0, MOST_ADDRESSES)) {
    const address = parseAddress(text);
    if (!address) {
      const detail = `${target.host} has an address that is not understood`;
      return { ok: false, outcome: "refused", reason: "address_refused", detail };
    }
    const shown = written(address, text);
    const verdict = judgeAddress(target, address, shown, allow, own);
    if (!verdict.allowed) {
      return { ok: false, outcome: "refused", reason: verdict.reason, detail: verdict.detail };
    }
    addresses.push({ address: text.includes(":") ? text : shown, family: text.includes(":") ? 6 : 4 });
  }
  const [first, ...more] = addresses;
  if (!first) return { ok: false, outcome: "failed", code: "dns", detail: `${target.host} has no address` };
  return { ok: true, addresses: [first, ...more] };
}

async function resolved(name: string, resolve: Resolve): Promise<readonly string[] | undefined> {
  try {
    return await resolve(name);
  } catch {
    return undefined;
  }
}

function written(address: Address, text: string): string {
  return address.length === 4 ? address.join(".") : text;
}
