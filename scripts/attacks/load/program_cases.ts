import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { FIXED_PATH } from "../../../src/sandbox/environment.ts";
import { pushesOf } from "../../../test/sandbox/attack/reyn_runner.ts";
import { runProcess } from "../../lib/run_process.ts";
import type { LoadCase, LoadTools } from "./tools.ts";

/** Prints a directive with what it found in its event. */
const JS = (read: string) =>
  `const e = JSON.parse(${read}); console.log(JSON.stringify({ push_when: true, wake: false, message: "saw " + e.point }))`;
const SHELL =
  `read -r e; case $e in *session_start*) p=session_start;; *) p=nothing;; esac; printf '{"push_when":true,"wake":false,"message":"saw %s"}' "$p"`;
const PYTHON = `
import sys, json, threading
def work():
    event = json.load(sys.stdin)
    print(json.dumps({"push_when": True, "wake": False, "message": "saw " + event["point"]}))
threads = [threading.Thread(target=lambda: None) for _ in range(8)] + [threading.Thread(target=work)]
for thread in threads: thread.start()
for thread in threads: thread.join()
`;
const PERL =
  `my $e = <STDIN>; my ($p) = $e =~ /"point":"(\\w+)"/; print qq({"push_when":true,"wake":false,"message":"saw $p"})`;

/** Name → arguments; what it is to say in its push. */
const PROGRAMS: Record<string, { args: (tools: LoadTools) => string[]; says: string }> = {
  bash: { args: () => ["-c", SHELL], says: "saw session_start" },
  dash: { args: () => ["-c", SHELL], says: "saw session_start" },
  python3: { args: () => ["-c", PYTHON], says: "saw session_start" },
  node: { args: () => ["-e", JS(`require("fs").readFileSync(0, "utf8")`)], says: "saw session_start" },
  deno: {
    args: () => ["eval", JS("await new Response(Deno.stdin.readable).text()")],
    says: "saw session_start",
  },
  bun: { args: () => ["-e", JS("await Bun.stdin.text()")], says: "saw session_start" },
  perl: { args: () => ["-e", PERL], says: "saw session_start" },
  jq: {
    args: () => ["-c", '{push_when: true, wake: false, message: ("saw " + .point)}'],
    says: "saw session_start",
  },
  git: {
    args: ({ controlDir }) => [
      ...["-C", path.join(controlDir, "repository"), "log", "-1"],
      '--format={"push_when":true,"wake":false,"message":"%s"}',
    ],
    says: "the first commit",
  },
  curl: { args: () => ["--version"], says: "" },
};

export const programCases: readonly LoadCase[] = Object.entries(PROGRAMS).map(([name, { args, says }]) => ({
  name: `${name} starts at the floor${says.startsWith("saw") ? " and reads its event" : ""}`,
  async run(tools) {
    const own: Record<string, string> = { deno: tools.deno, bun: tools.bun };
    const file = own[name] ??
      FIXED_PATH.split(":").map((folder) => path.join(folder, name)).find((candidate) =>
        existsSync(candidate)
      );
    if (file === undefined) return "ABSENT: it is not installed, so nothing was shown";
    if (name === "git") await makeRepository(file, path.join(tools.controlDir, "repository"));
    const argv = [file, ...args(tools)];
    // What curl prints is no directive, and it is not asked for one.
    const run = await tools.start([says === "" ? { exec: argv } : { exec_capture: argv }]);
    const failure = JSON.stringify(run.audit.filter(({ type }) => type.startsWith("hook_")));
    assert.deepEqual(run.executed.map(({ outcome }) => outcome), ["ok"], failure);
    const pushes = pushesOf(run);
    if (says !== "") assert.deepEqual(pushes, [says]);
    return `${Number(run.executed[0]?.["duration_ms"])} ms`;
  },
}));

async function makeRepository(git: string, folder: string): Promise<void> {
  mkdirSync(folder);
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  for (const args of [["init", "-q"], [...who, "commit", "-q", "--allow-empty", "-m", "the first commit"]]) {
    const { code, output } = await runProcess(git, ["-C", folder, ...args], {
      cwd: folder,
      env: { HOME: folder },
    });
    if (code !== 0) throw new Error(output);
  }
}
