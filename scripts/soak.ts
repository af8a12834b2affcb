import { type ChildProcess, spawn } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { numbers } from "./chaos/lib/suite.ts";
import { REPO } from "./lib/repo.ts";
import { type Load, startLoad } from "./soak/load.ts";
import { type Sample, slopeAMinute, takeSample } from "./soak/sample.ts";
import { startWatching } from "./soak/watch.ts";

/**
 * A server under an even load for long: `--minutes=30 --rate=200 --sessions=500`. Each session is ended after `--turns`
 * messages (0: never) and another takes its place, so that conversations do not grow without end; of a hundred sessions
 * `--commands` have a command for a model and a hook that runs one, so that processes come and go; readers of event streams
 * do, too; metrics are read every five seconds, gc runs every minute.
 *
 * Memory, descriptors, children and files are measured from outside. Exit 1 when a message is not answered with 2xx or not
 * taken, the server says anything on stderr, a child is not collected, or, after the warm-up, memory or descriptors grow.
 */
const options = numbers({ minutes: 30, rate: 200, sessions: 500, turns: 60, commands: 2, kept: 0 });
const TOKEN = "0123456789abcdef0123456789abcdef";
const SAMPLE_MS = 5_000;
const GC_EVERY = 12;
/** A slope below this is no growth: a run of half an hour would not show it beside what the heap breathes. MiB a minute. */
const FLAT_MIB = 1;
const FLAT_DESCRIPTORS = 1;
/** Below this a slope after the warm-up is noise. */
const JUDGED_MINUTES = 5;

const base = await mkdtemp(join(tmpdir(), "reyn-soak-"));
const dir = await prepare(base);
// A build that happens meanwhile must not change what runs.
const binary = join(base, "reyn");
await copyFile(process.env["REYN_BIN"] ?? join(REPO, "dist", "reyn"), binary);
const child = spawn(binary, ["serve", "--json", "--quiet"], {
  cwd: dir,
  env: { HOME: join(base, "home"), PATH: "/usr/bin:/bin", REYN_SOAK: TOKEN, REYN_ACCEPT_HOOKS: "1" },
  stdio: ["ignore", "pipe", "pipe"],
});
const said = new Map<string, number>();
child.stderr.setEncoding("utf8").on("data", (text: string) => {
  for (const line of text.split("\n")) {
    // Numbers differ from one to the next.
    const kind = line.replace(/\d+/g, "N").trim();
    if (kind !== "" && said.size < 20) said.set(kind, (said.get(kind) ?? 0) + 1);
  }
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.once("exit", () => child.kill("SIGKILL"));
const { url } = JSON.parse(await firstLine(child)) as { url: string };
const port = Number(new URL(url).port);
const pid = child.pid ?? 0;
const ask = async (path: string, body?: unknown): Promise<string> => {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  return await (await fetch(url + path, { ...init, headers })).text();
};

const load = startLoad({ port, token: TOKEN, ...options });
const watching = startWatching({
  port,
  token: TOKEN,
  paths: [
    "/api/sessions/s3.0/events",
    "/api/sessions/s40.1/events",
    "/api/events",
    "/api/events?type=turn_settled",
  ],
});
const samples: Sample[] = [];
const latencies: number[] = [];
const problems: string[] = [];
const began = performance.now();
const seconds = () => (performance.now() - began) / 1000;
while (seconds() < options.minutes * 60 && child.exitCode === null && child.signalCode === null) {
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  const sample = await takeSample(pid, join(dir, ".reyn"), seconds());
  const stale = sample.zombies.filter((zombie) => samples.at(-1)?.zombies.includes(zombie));
  if (stale.length > 0) {
    problems.push(`at ${sample.at.toFixed(0)} s children were not collected: ${stale.join(", ")}`);
  }
  samples.push(sample);
  const window = load.takeLatencies();
  latencies.push(...window);
  await ask("/metrics");
  if (samples.length % GC_EVERY === 0) {
    await ask("/api/gc", {});
  }
  if (samples.length % GC_EVERY === 0 || options.minutes < 3) tell(sample, window, load);
}
await load.stop();
await watching.stop();
await settled();
await report();
child.kill("SIGTERM");
await new Promise((resolve) => child.once("exit", resolve));
if (options.kept === 0) await rm(base, { recursive: true, force: true });
process.exit(problems.length > 0 ? 1 : 0);

async function prepare(folder: string): Promise<string> {
  const control = join(folder, "control");
  await mkdir(control);
  await mkdir(join(folder, "home", ".reyn"), { recursive: true, mode: 0o700 });
  const command = join(control, "model.sh");
  await writeFile(command, '#!/bin/sh\ncat > /dev/null\necho "said by a command"\n');
  await chmod(command, 0o755);
  await writeFile(
    join(control, "reyn.yaml"),
    "hooks:\n" +
      '  - { name: about, on: turn_start, template_push: { message: "a turn of {{ kind }}", wake: false } }\n' +
      "  - { name: effect, on: turn_end, matcher: { agent_name: command }, exec: [cat] }\n" +
      '  - { name: count, on: turn_end, matcher: { agent_name: command }, template_push: { message: "one more", ' +
      'session: "board:all", wake: true } }\n',
  );
  await writeFile(
    join(folder, "home", ".reyn", "config.yaml"),
    "model: { provider: echo }\n" +
      "server: { port: 0, tokens: [{ name: soak, env: REYN_SOAK, scopes: [observe, send, admin] }] }\n" +
      `agents: { command: { model: { provider: command, command: ["${command}"] } } }\n`,
    { mode: 0o600 },
  );
  return control;
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let said = "";
  for await (const part of stdout ?? []) {
    said += String(part);
    if (said.includes("\n")) break;
  }
  return said;
}

/** What was sent has been taken. */
async function settled(): Promise<void> {
  const until = performance.now() + 60_000;
  let waiting = "";
  while (performance.now() < until) {
    waiting = /^reyn_inbox_messages\{wake="true"\} (\d+)/m.exec(await ask("/metrics"))?.[1] ?? "unknown";
    if (waiting === "0") return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  problems.push(`a minute after the last message ${waiting} still wait`);
}

function tell(sample: Sample, window: readonly number[], { sent, ended, failures }: Load): void {
  const { at, rss, descriptors, children, zombies, threads, cpu, database, log } = sample;
  console.log(
    `${at.toFixed(0).padStart(5)} s  ${sent} sent, ${ended} ended, rss ${
      rss.toFixed(1)
    } MiB, ${descriptors} ` +
      `descriptors, ${children} children (${zombies.length} ended), ${threads} threads, ${
        cpu.toFixed(0)
      } s of cpu, state ${database.toFixed(1)} MiB, ` +
      `log ${log.toFixed(1)} MiB, answers p50 ${at50(window).toFixed(1)} p99 ${at99(window).toFixed(1)} ms` +
      (failures.size > 0
        ? `, failed: ${[...failures].map(([what, count]) => `${count} × ${what}`).join(", ")}`
        : ""),
  );
}

async function report(): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    problems.push(`the server ended by itself: ${child.exitCode ?? child.signalCode}`);
  }
  for (const [line, count] of said) problems.push(`it said ${count} times: ${line}`);
  for (const [what, count] of load.failures) problems.push(`${count} times ${what}`);
  const turns = /^reyn_turns_total\{[^}]*status="ok"[^}]*\} (\d+)/gm;
  const taken = [...(await ask("/metrics").catch(() => "")).matchAll(turns)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
  const ran = seconds();
  // Until then sessions of the first lives are still growing.
  const lifeSeconds = options.turns === 0 ? 0 : options.turns * options.sessions / options.rate;
  const warm = samples.filter(({ at }) => at > Math.max(60, Math.min(lifeSeconds * 1.2, ran / 2)));
  const span = ((warm.at(-1)?.at ?? 0) - (warm[0]?.at ?? 0)) / 60;
  const rss = slopeAMinute(warm, (one) => one.rss);
  const files = slopeAMinute(warm, (one) => one.descriptors);
  latencies.sort((a, b) => a - b);
  console.log(
    `ran ${(ran / 60).toFixed(1)} minutes: ${load.sent} messages (${
      (load.sent / ran).toFixed(0)
    }/s), ${taken} turns, ` +
      `${load.ended} sessions ended, ${watching.opened} streams read; answers p50 ${
        at50(latencies).toFixed(1)
      } ` +
      `p99 ${at99(latencies).toFixed(1)} max ${(latencies.at(-1) ?? 0).toFixed(0)} ms`,
  );
  const range = (y: (one: Sample) => number) => {
    const values = warm.map(y);
    return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
  };
  console.log(
    `after the warm-up (${span.toFixed(1)} minutes): rss ${range((one) => one.rss)} MiB, ${
      rss.toFixed(2)
    } MiB a minute; ` +
      `descriptors ${range((one) => one.descriptors)}, ${files.toFixed(2)} a minute; ` +
      `threads ${range((one) => one.threads)}; children ${range((one) => one.children)}`,
  );
  if (span < JUDGED_MINUTES) {
    console.log(`too short to judge slopes: ${JUDGED_MINUTES} minutes after the warm-up are needed`);
  } else {
    if (options.turns > 0 && rss > FLAT_MIB) problems.push(`memory grows by ${rss.toFixed(2)} MiB a minute`);
    if (files > FLAT_DESCRIPTORS) problems.push(`descriptors grow by ${files.toFixed(2)} a minute`);
  }
  for (const problem of problems) console.log(`  VIOLATION ${problem}`);
  console.log(`${problems.length === 0 ? 1 : 0} passed, ${problems.length} failed`);
}

function at50(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.5)] ?? 0;
}

function at99(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
