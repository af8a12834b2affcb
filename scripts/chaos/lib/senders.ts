import { Agent } from "node:http";
import { type Answer, ask } from "./ask.ts";
import { pause } from "./process.ts";
import type { Random } from "./random.ts";
import type { ServerWorld } from "./server_world.ts";

/** A message as the one who sent it knows it. */
export interface SentMessage {
  sender: number;
  /** Of that sender, to that session, counted from 1. */
  number: number;
  session: string;
  text: string;
  /** The id it has in the store. */
  id: string;
  acknowledged: boolean;
  tries: number;
}

export interface Senders {
  readonly sent: readonly SentMessage[];
  readonly figures: { retries: number; duplicates: number };
  /** Answers that no sender may ever get. */
  readonly violations: readonly string[];
  /** Lets each finish what it is sending, which needs a server; resolves when all have been answered. */
  finish(): Promise<void>;
  /** Gives up at once. */
  abandon(): void;
}

const SENDERS = 8;
const SESSIONS = ["default/s1", "default/s2", "default/s3", "default/s4"] as const;
const LONG = "x".repeat(100_000);

/**
 * Eight who send one message after the other, half over TCP and half over the control socket, each to all sessions. What is
 * not answered is sent again, with the same key, until it is.
 */
export function startSenders(world: ServerWorld, random: Random): Senders {
  const sent: SentMessage[] = [];
  const violations: string[] = [];
  const figures = { retries: 0, duplicates: 0 };
  let finishing = false;
  let abandoned = false;

  const deliver = async (message: SentMessage, local: boolean, agent: Agent): Promise<void> => {
    const key = `${message.sender}.${message.session.slice(-2)}.${message.number}`;
    while (!abandoned) {
      message.tries += 1;
      if (message.tries > 1) figures.retries += 1;
      const answer = await ask({
        to: local ? { socketPath: world.socket } : { port: world.port },
        path: `/api/sessions/${message.session}/messages`,
        body: { text: message.text },
        headers: { "idempotency-key": key },
        agent,
      }).catch((): Answer => ({ status: 0, body: "" }));
      const again = message.tries > 1;
      if (answer.status === 202 || answer.status === 200) {
        message.acknowledged = true;
        if (answer.status === 200) figures.duplicates += 1;
        if (answer.status === 200 && !again) {
          violations.push(`${key} was told as a duplicate at its first try`);
        }
        return;
      }
      if (answer.status !== 0 && answer.status !== 503 && answer.status !== 429) {
        violations.push(`${key} was answered by ${answer.status} ${answer.body.slice(0, 200)}`);
        return;
      }
      await pause(answer.status === 0 ? 5 : 50);
    }
  };

  const life = async (sender: number): Promise<void> => {
    const own = random.fork(sender);
    const local = sender % 2 === 0;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const numbers = new Map<string, number>();
    while (!finishing && !abandoned && violations.length < 10) {
      const session = own.pick(SESSIONS);
      const number = (numbers.get(session) ?? 0) + 1;
      numbers.set(session, number);
      const text = `from ${sender} number ${number}${own.chance(0.01) ? ` ${LONG}` : ""}`;
      const id = `http:${local ? "local" : "chaos"}:${sender}.${session.slice(-2)}.${number}`;
      const message = { sender, number, session, text, id, acknowledged: false, tries: 0 };
      sent.push(message);
      await deliver(message, local, agent);
      await pause(own.next() * 80);
    }
    agent.destroy();
  };
  const lives = Promise.all(Array.from({ length: SENDERS }, (_, index) => life(index + 1)));

  return {
    sent,
    figures,
    violations,
    async finish() {
      finishing = true;
      await lives;
    },
    abandon() {
      abandoned = true;
    },
  };
}
