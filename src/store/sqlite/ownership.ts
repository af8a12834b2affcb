import type { ClaimResult } from "../store.ts";
import { fromText } from "./odd_text.ts";
import { rowOf, type Tx } from "./rows.ts";
import { asNumber, asText } from "./statements.ts";

export function applyClaim(tx: Tx, session: string, owner: string, leaseMs: number): ClaimResult {
  const { key } = rowOf(tx, session);
  const row = tx.statements.sessionById.get(session) ?? {};
  const epoch = asNumber(row.epoch);
  const leaseUntil = asNumber(row.lease_until);
  if (row.owner !== null && row.owner !== owner && leaseUntil > tx.now) {
    return { status: "held", owner: fromText(asText(row.owner)), leaseUntil };
  }
  tx.statements.sessionOwn.run(owner, epoch + 1, leaseUntilAfter(tx, leaseMs), key);
  return { status: "claimed", epoch: epoch + 1, created: epoch === 0 };
}

/** A lease that ran out still stands while nobody else took the session. */
export function applyRenew(tx: Tx, session: string, epoch: number, leaseMs: number): boolean {
  return tx.statements.sessionRenew.run(leaseUntilAfter(tx, leaseMs), session, epoch).changes !== 0;
}

export function applyRelease(tx: Tx, session: string, epoch: number): void {
  tx.statements.sessionRelease.run(session, epoch);
}

function leaseUntilAfter(tx: Tx, leaseMs: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(tx.now + leaseMs));
}
