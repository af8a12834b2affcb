import { spawn } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Answer, ask } from "./lib/ask.ts";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { pause } from "./lib/process.ts";
import { createRandom } from "./lib/random.ts";
import { type ServerCampaign, startServerCampaign } from "./lib/server_campaign.ts";
import { TOKEN } from "./lib/server_world.ts";
import { besideHeldConnections } from "./lib/held_connections.ts";
import { becomesReady, recovers } from "./lib/server_recovers.ts";
import {
  type UnderFault,
  unwritableEvents,
  unwritableStart,
  unwritableState,
} from "./lib/server_unwritable.ts";
import { mountSmallDisk, type SmallDisk } from "./lib/small_disk.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";

export interface ServerFaultsOptions {
  /** How often each fault happens. */
  rounds: number;
  seed: number;
  /** 1: also those that take more than a few seconds. */
  long: number;
}

/** Answers figures. */
type Fault = (under: UnderFault) => Promise<string[]>;

const DISK_BYTES = 32 * 1024 * 1024;

/**
 * What is around a server fails while eight senders go on: it is stopped and goes on, clients stop in the midst of what they
 * do, another process holds the database, the disk is full, nothing can be written. Afterwards nothing is lost, double or out of order.
 */
export async function serverFaultsSuite(
  binaries: Binaries,
  options: ServerFaultsOptions,
): Promise<SuiteResult> {
  const { rounds, seed, long } = options;
  const notes = [`seed ${seed}`];
  const violations: string[] = [];
  let passed = 0;
  const random = createRandom(seed);
  let begun = 0;
  const start = () => startServerCampaign(binaries, random.fork(begun++));
  const bear = async (campaign: ServerCampaign, name: string, fault: Fault): Promise<void> => {
    campaign.log(name);
    const server = campaign.world.serve();
    if (await server.saw("\n")) {
      for (const note of await fault({ campaign, server, rounds })) notes.push(`${name}: ${note}`);
    } else campaign.violated(`it does not start: ${(await server.ended).stderr.slice(0, 300)}`);
    server.kill("SIGKILL");
    campaign.enter(await server.ended);
    await campaign.settle();
    if (campaign.violations.length === 0) passed += 1;
  };
  const end = async (campaign: ServerCampaign, name: string) =>
    void violations.push(...await campaign.finish(`scripts/chaos/server_faults.ts --seed=${seed} (${name})`));

  const simple: [string, Fault][] = [
    ["the server is stopped", stoppedServer],
    ["clients are stopped", stoppedClients],
    ["the state cannot be written", unwritableState],
  ];
  if (long === 1) {
    simple.push(
      ["the log cannot be written", unwritableEvents],
      ["connections are held", besideHeldConnections],
      ["the database is held", heldDatabase],
    );
  }
  for (const [name, fault] of simple) {
    const campaign = await start();
    await bear(campaign, name, fault);
    await end(campaign, name);
  }

  const beforehand = "a start where nothing can be written";
  const fresh = await start();
  for (const note of await unwritableStart(fresh)) notes.push(`${beforehand}: ${note}`);
  await fresh.settle();
  if (fresh.violations.length === 0) passed += 1;
  await end(fresh, beforehand);

  const name = "the disk is full";
  const campaign = await start();
  const disk = await mountSmallDisk(join(campaign.world.dir, ".reyn"), DISK_BYTES);
  if ("refused" in disk) {
    notes.push(`SKIPPED: a small tmpfs cannot be mounted here (needs root on Linux): ${disk.refused}`);
    campaign.senders.abandon();
  } else {
    await bear(campaign, name, filling(disk));
    if (campaign.violations.length === 0) await disk.unmount();
  }
  await end(campaign, name);
  return { name: "faults around a server", passed, violations, notes };
}

/** It answers nothing while it is stopped, a second one is told who holds the folder, and then everything goes on. */
async function stoppedServer({ campaign, server, rounds }: UnderFault): Promise<string[]> {
  const { world } = campaign;
  let longest = 0;
  for (let round = 0; round < rounds; round++) {
    server.kill("SIGSTOP");
    const waiting = ask({ to: { port: world.port }, path: "/healthz", limitMs: 10_000 }).catch(() =>
      undefined
    );
    const rival = await world.run(["serve"]);
    if (rival.code !== 6 || !rival.stderr.includes(`pid ${server.pid}`)) {
      campaign.violated(`a rival of a stopped server: exit ${rival.code} ${rival.stderr.slice(0, 200)}`);
    }
    const since = performance.now();
    server.kill("SIGCONT");
    if ((await waiting)?.status !== 200) {
      campaign.violated("what was asked while it was stopped is not answered");
    }
    longest = Math.max(longest, performance.now() - since);
  }
  return [`${rounds} times; answered at most ${longest.toFixed(0)} ms after it went on`];
}

/** Clients that stop with half a request sent, or with a stream that they do not read, hold up nobody. */
async function stoppedClients({ campaign, server, rounds }: UnderFault): Promise<string[]> {
  const { world } = campaign;
  const script = `
    const { connect } = require("node:net");
    const head = "Host: 127.0.0.1\\r\\nAuthorization: Bearer ${TOKEN}\\r\\n";
    for (let n = 0; n < 20; n++) connect(${world.port}, "127.0.0.1").on("error", () => {}).write(
      "POST /api/sessions/s1/messages HTTP/1.1\\r\\n" + head + "Content-Type: application/json\\r\\nContent-Length: 90\\r\\n\\r\\n{");
    for (let n = 0; n < 20; n++) connect(${world.port}, "127.0.0.1").on("error", () => {}).on("data", () => {}).write(
      "GET /api/" + (n % 2 ? "events" : "sessions/board/main/events") + " HTTP/1.1\\r\\n" + head + "Accept: text/event-stream\\r\\n\\r\\n");
    setTimeout(() => console.log("open"), 300);
    setTimeout(() => {}, 60000);
  `;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const client = spawn(process.execPath, nodeArguments(script), { stdio: ["ignore", "pipe", "ignore"] });
    await new Promise((resolve) => client.stdout.once("data", resolve));
    client.kill("SIGSTOP");
    const { sent } = campaign.senders;
    const before = sent.length;
    for (let count = 0; count < 50; count++) {
      const since = performance.now();
      const answer: Answer | undefined = await ask({ to: { port: world.port }, path: "/api/status" }).catch(
        () => undefined,
      );
      if (answer?.status !== 200) {
        campaign.violated(`beside stopped clients: ${answer?.status} ${answer?.body}`);
      }
      times.push(performance.now() - since);
      await pause(10);
    }
    if (sent.length === before) campaign.violated("beside stopped clients no message gets through");
    client.kill("SIGKILL");
  }
  if (server.stdout() === "") return [];
  times.sort((a, b) => a - b);
  return [
    `${rounds} times 20 half requests and 20 unread streams; others answered in ${
      (times[times.length >> 1] ?? 0).toFixed(1)
    } ms (median), ${(times.at(-1) ?? 0).toFixed(0)} ms at most`,
  ];
}

/** A script for whichever runtime this is. */
function nodeArguments(script: string): string[] {
  const module = script.replace(
    'const { connect } = require("node:net");',
    'import { connect } from "node:net";',
  );
  return "Bun" in globalThis ? ["-e", module] : ["eval", "--ext=ts", module];
}

/** Another process holds the database, for a moment and for longer than anybody waits: messages wait or are refused, none lost. */
async function heldDatabase({ campaign, server, rounds }: UnderFault): Promise<string[]> {
  const { world } = campaign;
  let refused = 0;
  let waited = 0;
  for (const seconds of [...Array.from({ length: rounds }, () => 0.7), 40]) {
    campaign.log(`held for ${seconds} s`);
    await pause(300);
    const db = new DatabaseSync(join(world.stateDir, "reyn.db"), { timeout: 5000 });
    db.exec("BEGIN IMMEDIATE");
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) {
      const since = performance.now();
      const health = await ask({ to: { port: world.port }, path: "/healthz" }).catch(() => undefined);
      if (health?.status !== 200) {
        campaign.violated("it does not even answer /healthz while its database is held");
      }
      const took = performance.now() - since;
      if (took > 2000) campaign.violated(`/healthz took ${took.toFixed(0)} ms while the database was held`);
      const to = { port: world.port };
      const message = { to, path: "/api/sessions/other/messages", body: { text: "beside" }, limitMs: 500 };
      const answer = await ask(message).catch(() => undefined);
      if (answer === undefined) waited += 1;
      else if (answer.status === 503) refused += 1;
      else if (answer.status >= 300) {
        campaign.violated(`while held: ${answer.status} ${answer.body}`);
      }
    }
    db.exec("ROLLBACK");
    db.close();
    await recovers(campaign, server);
  }
  return [
    `${rounds} times for 0.7 s, once for 40 s; meanwhile ${waited} messages waited longer than 0.5 s, ${refused} were refused`,
  ];
}

/** While the disk is full messages are refused by a code and the server is not ready; with space again all goes on. */
function filling(disk: SmallDisk): Fault {
  return async ({ campaign, server, rounds }) => {
    const { world } = campaign;
    const codes = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      await pause(200);
      await disk.fill(round % 2 === 0 ? 0 : 8192);
      const text = "x".repeat(50_000);
      let refused = false;
      for (let tries = 0; tries < 40 && !refused; tries++) {
        await disk.fill(0);
        const to = { port: world.port };
        const answer = await ask({ to, path: "/api/sessions/other/messages", body: { text } }).catch(() =>
          undefined
        );
        if (!answer) campaign.violated("a message is not answered on a full disk");
        else if (answer.status === 503) {
          const { error } = JSON.parse(answer.body) as { error: { code: string } };
          codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
          refused = error.code === "E_STATE_FULL";
        } else if (answer.status !== 202) {
          campaign.violated(`on a full disk: ${answer.status} ${answer.body}`);
        }
      }
      if (!refused) campaign.violated("nothing was refused with E_STATE_FULL");
      await pause(1100);
      const ready = await ask({ to: { port: world.port }, path: "/readyz" });
      if (ready.status !== 503 || !ready.body.includes("state_unwritable")) {
        campaign.violated(`/readyz on a full disk: ${ready.status} ${ready.body}`);
      }
      await disk.free();
      await recovers(campaign, server);
      await becomesReady(campaign);
      // What composers have armed meanwhile is written by then.
      await pause(2500);
    }
    return [`${rounds} times; refused: ${[...codes].map(([code, count]) => `${count} ${code}`).join(", ")}`];
  };
}

if (import.meta.main) {
  const options = numbers({ rounds: 4, seed: Date.now() % 1_000_000, long: 1 });
  const binaries = await pinBinaries();
  await runSuites([() => serverFaultsSuite(binaries, options)], () => binaries.remove());
}
