import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connect, type Socket } from "node:net";
import { systemClock } from "../../src/clock/clock.ts";
import { configurations } from "../../src/runtime/serve_configuration.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { build } from "../build/build.ts";
import type { BenchRow } from "../lib/bench_table.ts";
import { REPO } from "../lib/repo.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const STORED = 10_000;
const SENDS = 300;
const SENDERS = 64;
const SEND_MS = 3_000;
const IDLE = 1_000;
const SLOW = 200;
const LOADS = 1_000;

/** The built binary as a server, asked over its real sockets by this process. */
export async function rows(): Promise<BenchRow[]> {
  await build();
  const base = await mkdtemp(join(tmpdir(), "reyn-bench-"));
  try {
    const rows = configured(await folder(base, "configured", 0));
    const asked = await serve(await folder(base, "asked", 0, slowReplies()));
    try {
      rows.push(...await sends(asked));
    } finally {
      await stop(asked);
    }
    const busy = await serve(await folder(base, "busy", 0, "- { say: done, delay: 1h }\n".repeat(SENDERS)));
    try {
      rows.push(await messages(busy, "to sessions in a turn", { atLeast: 3000 }));
    } finally {
      await stop(busy);
    }
    const empty = await serve(await folder(base, "empty", 0));
    try {
      rows.push({ name: "server: idle memory", unit: "MB", value: rssMb(empty), goal: { atMost: 100 } });
      rows.push(await messages(empty, "with a turn for each"));
      rows.push(await besideSlowClients(empty));
    } finally {
      await stop(empty);
    }
    rows.push(...await stored(base));
    return rows;
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

interface Served {
  child: ChildProcess;
  port: number;
  socket: string;
  startMs: number;
}

/** A control folder and a home, with so many sessions that were run and ended before. */
async function folder(base: string, name: string, sessions: number, replies?: string): Promise<string> {
  const dir = join(base, name);
  await mkdir(dir);
  await mkdir(join(homeOf(dir), ".reyn"), { recursive: true });
  await writeFile(join(dir, "reyn.yaml"), "{}\n");
  await writeFile(
    join(homeOf(dir), ".reyn", "config.yaml"),
    `model: { provider: ${replies === undefined ? "echo" : "scripted, script: replies.yaml"} }\n` +
      "shutdown_grace: 1s\nserver: { port: 0, tokens: [{ name: bench, env: REYN_BENCH, scopes: [observe, send] }] }\n",
    { mode: 0o600 },
  );
  if (replies !== undefined) await writeFile(join(dir, "replies.yaml"), replies);
  if (sessions === 0) return dir;
  const store = await openSqliteStore({ dir: join(dir, ".reyn", "state"), clock: systemClock });
  await Promise.all(Array.from({ length: sessions }, async (_, index) => {
    const session = `default/chat:${index}`;
    const claim = await store.claim(session, "local", 1000);
    if (claim.status !== "claimed") throw new Error("a new session is held");
    const { epoch } = claim;
    const status = {
      open: true,
      turns: 3,
      count: 0,
      cap: 25,
      closed: false,
      unloaded: true,
      retry: false,
      attention: false,
    };
    await store.commit({ session, epoch, ops: [{ op: "status", status }] });
    await store.release(session, epoch);
  }));
  await store.close();
  return dir;
}

/** The operator's, apart from the project. */
function homeOf(dir: string): string {
  return `${dir}.home`;
}

/** A model that is waited for, as any that is not in this process. */
function slowReplies(): string {
  return "- { say: done, delay: 5ms }\n".repeat(SENDS);
}

async function serve(dir: string): Promise<Served> {
  const since = performance.now();
  const child = spawn(join(REPO, "dist", "reyn"), ["serve", "--json", "--quiet"], {
    cwd: dir,
    env: { HOME: homeOf(dir), PATH: process.env["PATH"] ?? "", REYN_BENCH: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  for await (const part of child.stdout) {
    said += String(part);
    if (said.includes("\n")) break;
  }
  const startMs = performance.now() - since;
  const { url } = JSON.parse(said) as { url: string };
  return { child, port: Number(new URL(url).port), socket: join(dir, ".reyn/state/control.sock"), startMs };
}

async function stop({ child }: Served): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

/** What a session's configuration costs where no file is its own. */
function configured(dir: string): BenchRow[] {
  const home = process.env["HOME"];
  process.env["HOME"] = homeOf(dir);
  try {
    const configs = configurations(dir);
    configs.of({ agent: "default", sid: "first" });
    const since = performance.now();
    for (let count = 0; count < LOADS; count++) configs.of({ agent: "default", sid: `s${count}` });
    const value = (performance.now() - since) / LOADS;
    return [{ name: "server: configuration of one more session", unit: "ms", value, goal: { atMost: 1 } }];
  } finally {
    if (home !== undefined) process.env["HOME"] = home;
  }
}

/**
 * From the request on the control socket to the event, on a stream of the same, that the message's turn has begun. Asked by bare
 * sockets: an HTTP client takes longer than the server.
 */
async function sends({ socket }: Served): Promise<BenchRow[]> {
  const [asking, stream] = await Promise.all([bareSocket(socket), bareSocket(socket)]);
  let ended = Promise.withResolvers<void>();
  let began = Promise.withResolvers<number>();
  stream.on("data", (part) => {
    const said = String(part);
    if (said.includes("event: turn_started")) began.resolve(performance.now());
    if (said.includes("event: turn_ended")) ended.resolve();
  });
  stream.write("GET /api/sessions/bench/events HTTP/1.1\r\nhost: reyn\r\n\r\n");
  await new Promise((resolve) => setTimeout(resolve, 200));
  const body = JSON.stringify({ text: "hello" });
  const message =
    "POST /api/sessions/bench/messages HTTP/1.1\r\nhost: reyn\r\ncontent-type: application/json\r\n" +
    `content-length: ${body.length}\r\n\r\n${body}`;
  const times: number[] = [];
  const floors: number[] = [];
  for (let turn = 1; turn <= SENDS; turn++) {
    ended = Promise.withResolvers();
    began = Promise.withResolvers();
    const since = performance.now();
    const answered = once(asking, "data");
    asking.write(message);
    times.push(await began.promise - since);
    await answered;
    await ended.promise;
    const floor = performance.now();
    asking.write("GET /healthz HTTP/1.1\r\nhost: reyn\r\n\r\n");
    await once(asking, "data");
    floors.push(performance.now() - floor);
  }
  asking.destroy();
  stream.destroy();
  return [{
    name: "server: socket send to turn start, p50",
    unit: "ms",
    value: median(times),
    floor: median(floors),
    floorName: "GET /healthz",
    goal: { atMost: 3 },
  }];
}

async function bareSocket(path: string): Promise<Socket> {
  const socket = connect(path);
  await once(socket, "connect");
  return socket;
}

/** Waking messages over TCP, each durable when it is answered. */
async function messages({ port }: Served, what: string, goal?: BenchRow["goal"]): Promise<BenchRow> {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const rate = async (one: (sender: number) => Promise<number>) => {
    const until = performance.now() + SEND_MS;
    let count = 0;
    await Promise.all(Array.from({ length: SENDERS }, async (_, sender) => {
      while (performance.now() < until) if (await one(sender) < 300) count += 1;
    }));
    return count / (SEND_MS / 1000);
  };
  const bare = await rate(async () => await drained(await ask({ port, path: "/healthz", agent })));
  const value = await rate(async (sender) =>
    await drained(await ask({ port, path: `/api/sessions/load${sender}/messages`, agent }, { text: "hello" }))
  );
  agent.destroy();
  return {
    name: `server: HTTP messages of ${SENDERS} senders ${what}`,
    unit: "messages/s",
    value,
    floor: bare,
    floorName: "GET /healthz",
    ...(goal ? { goal } : {}),
  };
}

/** A good request while others hold connections open and send their own byte by byte. */
async function besideSlowClients({ port }: Served): Promise<BenchRow> {
  const held = await Promise.all(
    Array.from(
      { length: IDLE + SLOW },
      (_, index) =>
        new Promise<ReturnType<typeof connect>>((resolve, reject) => {
          const socket = connect(port, "127.0.0.1", () => resolve(socket));
          socket.on("error", reject);
          if (index < SLOW) {
            socket.write("POST /api/sessions/main/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
          }
        }),
    ),
  );
  for (const socket of held) socket.on("error", () => {});
  const drip = setInterval(
    () => held.slice(0, SLOW).forEach((socket) => socket.writable && socket.write("a")),
    100,
  );
  const times: number[] = [];
  for (let count = 0; count < 100; count++) {
    const since = performance.now();
    const status = await drained(
      await ask({ port, path: "/api/sessions/beside/messages", agent: new Agent() }, { text: "hello" }),
    );
    if (status !== 202) throw new Error(`a good request got ${status}`);
    times.push(performance.now() - since);
  }
  clearInterval(drip);
  for (const socket of held) socket.destroy();
  return {
    name: `server: message beside ${IDLE} idle and ${SLOW} slow clients, worst of 100`,
    unit: "ms",
    value: Math.max(...times),
    goal: { atMost: 100 },
  };
}

async function stored(base: string): Promise<BenchRow[]> {
  const dir = await folder(base, "stored", STORED);
  const none = await folder(base, "none", 0);
  const starts: number[] = [];
  const added: number[] = [];
  for (let run = 0; run < 5; run++) {
    const full = await serve(dir);
    const bare = await serve(none);
    // What is let go of comes back only after a while.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    starts.push(full.startMs);
    added.push(rssMb(full) - rssMb(bare));
    await Promise.all([stop(full), stop(bare)]);
  }
  const name = `${STORED.toLocaleString("en-US")} stored idle sessions`;
  return [
    { name: `server: start with ${name}`, unit: "ms", value: median(starts), goal: { atMost: 500 } },
    { name: `server: memory that ${name} add`, unit: "MB", value: median(added), goal: { atMost: 5 } },
  ];
}

interface Where {
  port: number;
  path: string;
  agent: Agent;
}

function ask(where: Where, body?: unknown): Promise<IncomingMessage> {
  const bytes = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request({
      ...where,
      host: "127.0.0.1",
      method: bytes === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(bytes === undefined
          ? {}
          : { "content-type": "application/json", "content-length": bytes.length }),
      },
    }, resolve);
    sent.on("error", reject);
    sent.end(bytes);
  });
}

async function drained(answer: IncomingMessage): Promise<number> {
  for await (const _ of answer);
  return answer.statusCode ?? 0;
}

function rssMb({ child }: Served): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
