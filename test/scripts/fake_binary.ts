import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execPath, versions } from "node:process";
import { discoverCases } from "../../scripts/cases/discover.ts";
import type { CaseResult } from "../../scripts/cases/run_case.ts";
import { runAll } from "../../scripts/cases/run_all.ts";

/** A program in place of reyn: each verb does one thing that a case can see. */
const SCRIPT = `#!/bin/sh
verb=$1
shift
case $verb in
  say) printf '%s\\n' "$@" ;;
  complain) printf '%s\\n' "$1" >&2; exit "$2" ;;
  cat) cat ;;
  env) env ;;
  where) pwd; ls -A "$HOME" ;;
  terminal) if [ -t 0 ] && [ -t 1 ]; then echo terminal; read -r line; echo "got $line"; exit 3; else echo pipe; fi ;;
  log) mkdir -p .reyn/events; printf '%s\\n' "$@" >> .reyn/events/2026-01-01-$$.jsonl ;;
  sessions) [ "$2" = main ] || exit 1
    echo '{"id":"default/main","history":[{"role":"user","text":"hello"},{"role":"assistant","text":"[hook:a] hi"}],"inbox":[],"valve":{"count":1}}' ;;
  serve) trap 'echo stopping; exit 0' TERM; echo ready; while read -r line; do echo "line $line"; done; echo eof
    while :; do sleep 0.02; done ;;
  stubborn) trap '' TERM; echo ready; while :; do sleep 0.02; done ;;
  leave) env -i sleep 300 </dev/null >/dev/null 2>&1 & ;;
  orphan) sleep 300 & echo done ;;
  point) [ -z "$REYN_TEST_KILL_AT" ] || kill -9 $$ ;;
  hang) exec sleep 300 ;;
  clock) exec RUNTIME "$(dirname "$0")/clock.mjs" ;;
  *) exit 2 ;;
esac
`;

const CLOCK = `import { createServer } from "node:net";
import process from "node:process";
let now = 1000;
createServer((socket) => {
  socket.on("data", (data) => {
    const [word, by] = String(data).trim().split(" ");
    if (word === "advance") now += Number(by);
    socket.end(word === "advance" ? "ok\\n" : now + "\\n");
    console.log("now " + now);
  });
}).listen(process.env.REYN_TEST_CLOCK);
process.on("SIGTERM", () => process.exit(0));
`;

export interface Bench {
  root: string;
  /** Writes a case (and more files beside it) and runs it. */
  run(caseYaml: string, beside?: Record<string, string>): Promise<CaseResult[]>;
  /** What is wrong with a case file. */
  findings(caseYaml: string): Promise<string[]>;
  remove(): Promise<void>;
}

/** A folder with the fake program, in which cases can be tried. */
export async function makeBench(): Promise<Bench> {
  const root = await mkdtemp(join(tmpdir(), "cases-bench-"));
  const binary = join(root, "fake");
  const runtime = "deno" in versions ? `"${execPath}" run -A` : `"${execPath}"`;
  await writeFile(binary, SCRIPT.replace("RUNTIME", runtime));
  await chmod(binary, 0o755);
  await writeFile(join(root, "clock.mjs"), CLOCK);
  let number = 0;
  const place = async (caseYaml: string, beside: Record<string, string>): Promise<string> => {
    const folder = join(root, "cases", "area", `case_${++number}`);
    for (const [path, text] of Object.entries({ "case.yaml": caseYaml, ...beside })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return folder;
  };
  return {
    root,
    async run(caseYaml, beside = {}) {
      const folder = await place(caseYaml, beside);
      const { rows, findings } = await discoverCases([folder], "", root);
      if (findings.length > 0) throw new Error(findings.join("\n"));
      return await runAll(rows, 2, { binary, testBinary: binary }, () => undefined);
    },
    async findings(caseYaml) {
      const { findings } = await discoverCases([await place(caseYaml, {})], "", root);
      return findings.map((text) => text.replace(/^.*case\.yaml/, "case.yaml"));
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
