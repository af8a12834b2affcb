import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bunPath } from "../lib/bun_path.ts";
import { denoPath } from "../lib/deno_path.ts";
import { REPO } from "../lib/repo.ts";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { type Ended, misbehaviour, start, type Started } from "./lib/process.ts";
import { readStored } from "./lib/stored.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";

/** Who works on the folder, one after the other: every pair of neighbours is a file that one wrote and another continues. */
const ORDER = ["binary", "deno", "binary", "bun", "deno", "bun", "binary"] as const;
type Runtime = (typeof ORDER)[number];

const LIMIT_MS = 60_000;
/** Odd in every way that text can be: what one SQLite binding writes the other has to read. */
const ODD = "ä \u0000 \u2028 🜁 '\" \\ \ud800 end";

/**
 * A store that the compiled binary wrote is continued by the source under Deno and under Bun, and back: each is killed in the
 * midst of a turn, the next takes that turn up, and takes a message that was put in while nobody ran.
 */
export async function runtimesSuite(binaries: Binaries): Promise<SuiteResult> {
  const violations: string[] = [];
  const root = await mkdtemp(join(binaries.scratch, "runtimes-"));
  const dir = join(root, "control");
  const home = join(root, "home");
  await mkdir(dir);
  await mkdir(join(home, ".reyn"), { recursive: true, mode: 0o700 });
  await writeFile(join(dir, "reyn.yaml"), "model: { provider: scripted, script: script.yaml }\n");
  const main = join(REPO, "src", "main.ts");
  const commands: Readonly<Record<Runtime, readonly string[]>> = {
    binary: [binaries.reyn],
    deno: [await denoPath(), "run", "--quiet", "--allow-all", "--no-check", "--cached-only", main],
    bun: [await bunPath(), main],
  };
  const env = { PATH: "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", NO_COLOR: "1" };
  const begin = (runtime: Runtime, args: readonly string[], stdin?: string): Started => {
    const [file = "", ...words] = commands[runtime];
    return start(file, [...words, ...args], {
      cwd: dir,
      env,
      limitMs: LIMIT_MS,
      ...(stdin === undefined ? {} : { stdin }),
    });
  };
  const told = (who: string, run: Ended) => {
    const wrong = misbehaviour(run) ??
      (run.code === 0 ? undefined : `exit ${run.code}: ${run.stderr.slice(0, 400)}`);
    if (wrong) violations.push(`${who}: ${wrong}\n    kept: ${dir}`);
  };

  const expected: string[] = [];
  let before: Runtime | undefined;
  for (const [index, runtime] of ORDER.entries()) {
    const who = before === undefined ? runtime : `${runtime} after ${before}`;
    await writeFile(join(dir, "script.yaml"), "[]\n");
    const message = `${who} ${ODD.replaceAll("\u0000", "")}`;
    told(`${who}, run`, await begin(runtime, ["run", "--quiet", "-"], message).ended);
    expected.push(message.toWellFormed());
    told(`${who}, send`, await begin(runtime, ["send", `sent ${index}`]).ended);
    expected.push(`sent ${index}`);
    await writeFile(join(dir, "script.yaml"), "- { say: took it }\n- { say: too late, delay: 60s }\n");
    const killed = begin(runtime, ["run", "--json", "-"], `cut ${index}`);
    if (!await killed.saw(`cut ${index}`)) {
      violations.push(`${who}: ${(await killed.ended).stderr.slice(0, 300)}`);
    }
    killed.kill("SIGKILL");
    await killed.ended;
    expected.push(`cut ${index}`);
    before = runtime;
  }
  await writeFile(join(dir, "script.yaml"), "[]\n");
  told("at the end", await begin("deno", ["run"]).ended);

  const stored = await readStored(join(dir, ".reyn", "state"));
  const session = stored?.sessions.find(({ id }) => id === "default/main");
  const texts = session?.records.flatMap(({ record }) => record.messages ?? []).filter(({ role }) =>
    role === "user"
  )
    .map(({ text }) => text);
  if (stored?.integrity !== "ok") violations.push(`the database: ${stored?.integrity}`);
  if (JSON.stringify(texts) !== JSON.stringify(expected)) {
    violations.push(
      `the conversation is ${JSON.stringify(texts)}, not ${JSON.stringify(expected)}\n    kept: ${dir}`,
    );
  }
  const views: string[] = [];
  for (const runtime of ["binary", "deno", "bun"] as const) {
    const view = await begin(runtime, ["sessions", "show", "main", "--json", "--quiet"]).ended;
    told(`${runtime}, sessions show`, view);
    views.push(view.stdout);
  }
  if (new Set(views).size !== 1) violations.push(`sessions show differs between runtimes\n    kept: ${dir}`);
  if (violations.length === 0) await rm(root, { recursive: true, force: true });
  return {
    name: "one store, several runtimes",
    passed: violations.length === 0 ? ORDER.length : 0,
    violations,
    notes: [`${ORDER.join(" → ")}, each killed in a turn that the next took up`],
  };
}

if (import.meta.main) {
  numbers({});
  const binaries = await pinBinaries();
  await runSuites([() => runtimesSuite(binaries)], () => binaries.remove());
}
