import { Buffer } from "node:buffer";
import { Agent, request } from "node:http";

export interface LoadOptions {
  port: number;
  token: string;
  /** Messages a second, over all sessions. */
  rate: number;
  /** Sessions at the same time. */
  sessions: number;
  /** A session is ended after so many messages and another takes its place; 0: it goes on. */
  turns: number;
  /** Of a hundred sessions so many are of the agent whose model is a command. */
  commands: number;
}

export interface Load {
  readonly sent: number;
  readonly ended: number;
  /** Answers that were none or not 2xx, with how often. */
  readonly failures: ReadonlyMap<string, number>;
  /** Milliseconds that the answers took since the last call, ascending. */
  takeLatencies(): number[];
  /** Sends no more; resolves when all is answered. */
  stop(): Promise<void>;
}

const TICK_MS = 20;
const CONNECTIONS = 32;

/** Sends at an even pace, whatever the answers take. */
export function startLoad(options: LoadOptions): Load {
  const { port, token, rate, sessions, turns, commands } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures = new Map<string, number>();
  const open = new Set<Promise<void>>();
  const lives = Array.from({ length: sessions }, (_, slot) => ({
    agent: slot % 100 < commands ? "command" : "default",
    slot,
    life: 0,
    // So that they do not all end at the same time.
    left: turns === 0 ? Infinity : 1 + Math.floor((slot * turns) / sessions),
  }));
  let latencies: number[] = [];
  let sent = 0;
  let ended = 0;
  let stopped = false;

  const post = (path: string, body: unknown): Promise<number> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": String(bytes.length),
      };
      const out = request({ port, host: "127.0.0.1", method: "POST", path, agent, headers }, (answer) => {
        answer.resume();
        answer.on("error", reject);
        answer.on("end", () => resolve(answer.statusCode ?? 0));
      });
      out.setTimeout(30_000, () => out.destroy(new Error("no answer within 30 s")));
      out.on("error", reject);
      out.end(bytes);
    });

  const note = (what: string) => void failures.set(what, (failures.get(what) ?? 0) + 1);

  const sendOne = async (): Promise<void> => {
    const one = lives[sent % sessions];
    if (!one) return;
    sent += 1;
    const path = `/api/sessions/${one.agent}/s${one.slot}.${one.life}`;
    one.left -= 1;
    // By then the turn of the life before is long over.
    const old = one.life > 0 && one.left === Math.floor(turns / 2) ? one.life - 1 : undefined;
    if (one.left <= 0) {
      one.life += 1;
      one.left = turns;
    }
    const since = performance.now();
    try {
      const text = `message ${sent}: ${"is there anything left to do? ".repeat(3)}`;
      const status = await post(`${path}/messages`, { text });
      latencies.push(performance.now() - since);
      if (status !== 202) note(`messages ${status}`);
      if (old === undefined) return;
      const end = await post(`/api/sessions/${one.agent}/s${one.slot}.${old}/end`, {});
      ended += 1;
      if (end !== 200) note(`end ${end}`);
    } catch (error) {
      note(error instanceof Error ? error.message : String(error));
    }
  };

  const began = performance.now();
  let begun = 0;
  const timer = setInterval(() => {
    const due = Math.floor((performance.now() - began) / 1000 * rate);
    for (; begun < due && !stopped; begun++) {
      const one: Promise<void> = sendOne().finally(() => open.delete(one));
      open.add(one);
    }
  }, TICK_MS);

  return {
    get sent() {
      return sent;
    },
    get ended() {
      return ended;
    },
    failures,
    takeLatencies() {
      const taken = latencies.sort((a, b) => a - b);
      latencies = [];
      return taken;
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.all(open);
      agent.destroy();
    },
  };
}
