import type { PutOutcome } from "../store.ts";
import type { EncodedMessage } from "./encoding.ts";
import { fromText } from "./odd_text.ts";
import type { HotRow, Tx } from "./rows.ts";
import { asNumber, asText } from "./statements.ts";

const PASSIVE = 0;
const WAKING = 1;
const DEMOTED = 2;

/** Stores a message of the session `row`, or says why not. Changes the row's counts; the caller saves it. */
export function putMessage(tx: Tx, row: HotRow, message: EncodedMessage): PutOutcome {
  if (fits(tx, row, message)) return add(tx, row, message, []);
  const known = knownAs(tx, row, message);
  if (known) return known;
  if (message.wake) return { status: "full" };
  const victims = passiveToDrop(tx, row, message);
  if (!victims) return { status: "full" };
  for (const { seq, bytes } of victims) {
    tx.statements.inboxDrop.run(row.key, seq);
    row.passive--;
    row.bytes -= bytes;
  }
  return add(tx, row, message, victims.map(({ id }) => fromText(id)));
}

/** Takes one unconsumed message out; false when it is not there. */
export function consumeMessage(tx: Tx, row: HotRow, id: string): boolean {
  const taken = tx.statements.inboxTake.get(row.key, id);
  if (!taken) return false;
  row.bytes -= asNumber(taken.bytes);
  switch (taken.wake) {
    case PASSIVE:
      row.passive--;
      break;
    case WAKING:
      row.waking--;
      break;
    case DEMOTED:
      row.demoted--;
      break;
  }
  return true;
}

export function demoteMessage(tx: Tx, row: HotRow, id: string): void {
  if (tx.statements.inboxDemote.run(row.key, id).changes === 0) return;
  row.waking--;
  row.demoted++;
}

function fits(tx: Tx, row: HotRow, message: EncodedMessage): boolean {
  const { limits } = tx;
  if (message.wake && message.outside) {
    return row.waking < limits.waking && row.bytes + message.bytes <= 2 * limits.bytes;
  }
  if (row.bytes + message.bytes > limits.bytes) return false;
  return message.wake ? row.waking + row.demoted < limits.waking : row.passive + row.demoted < limits.passive;
}

function add(tx: Tx, row: HotRow, message: EncodedMessage, dropped: string[]): PutOutcome {
  const { changes, lastInsertRowid } = tx.statements.messageAdd.run(
    row.key,
    message.id,
    tx.now,
    message.digest,
  );
  if (changes === 0) return knownAs(tx, row, message) ?? { status: "duplicate" };
  const seq = Number(lastInsertRowid);
  const wake = message.wake ? WAKING : PASSIVE;
  tx.statements.inboxAdd.run(row.key, seq, message.id, message.kind, wake, message.bytes, message.body);
  if (message.wake) row.waking++;
  else row.passive++;
  row.bytes += message.bytes;
  tx.lastMessage = seq;
  return { status: "stored", dropped };
}

/** What to answer when its id is known; one that came without a digest, or before there were any, is the same whatever it says. */
function knownAs(tx: Tx, row: HotRow, { id, digest }: EncodedMessage): PutOutcome | undefined {
  const found = tx.statements.messageDigest.get(row.key, id);
  if (!found) return undefined;
  const other = digest !== null && found.digest !== null && found.digest !== digest;
  return { status: other ? "conflict" : "duplicate" };
}

interface Victim {
  seq: number;
  id: string;
  bytes: number;
}

/** The oldest passive messages that must go so that this one fits; nothing when even all of them would not do. */
function passiveToDrop(tx: Tx, row: HotRow, message: EncodedMessage): Victim[] | undefined {
  const victims: Victim[] = [];
  let count = row.passive + row.demoted;
  let bytes = row.bytes;
  const enough = () => count < tx.limits.passive && bytes + message.bytes <= tx.limits.bytes;
  for (const found of tx.statements.inboxDroppable.iterate(row.key)) {
    if (enough()) break;
    const victim = { seq: asNumber(found.seq), id: asText(found.id), bytes: asNumber(found.bytes) };
    victims.push(victim);
    count--;
    bytes -= victim.bytes;
  }
  return enough() ? victims : undefined;
}
