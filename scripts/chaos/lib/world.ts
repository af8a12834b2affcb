import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { type Ended, start, type Started } from "./process.ts";

/** How a control folder is set up. */
export interface Flavour {
  /** `slow` takes long enough to be interrupted in a turn for certain. */
  model: "echo" | "scripted" | "command" | "slow";
  resume: "retry" | "skip";
  onLimit: "warn" | "abort";
  cap: number;
}

/** A control folder with a home of its own. */
export interface World {
  readonly dir: string;
  readonly stateDir: string;
  readonly flavour: Flavour;
  configure(flavour: Flavour): Promise<void>;
  start(args: readonly string[], options?: RunOptions): Started;
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
}

export interface RunOptions {
  stdin?: string;
  /** `<label>[:<n>]`: the test binary ends itself there. */
  killAt?: string;
  limitMs?: number;
}

const HOOKS = `hooks:
  - { name: hello, on: session_start, template_push: { message: "opened for {{ agent_name }}", wake: false } }
  - { name: first, on: session_start, template_push: { message: "see to what is left", wake: true } }
  - { name: before, on: turn_start, template_push: { message: "a turn of {{ kind }}", wake: false } }
  - name: nudge
    on: turn_start
    template_push: { message: "look twice", wake: true, push_when: "{{ kind == 'user' }}" }
  - { name: after, on: turn_end, template_push: { message: "ended {{ status }}", wake: false } }
  - name: again
    on: turn_end
    template_push: { message: "anything left?", wake: true, push_when: "{{ hook_driven_turns < 2 }}" }
  - { name: bye, on: session_end, template_push: { message: "closed", wake: false } }
  - { name: later, on: session_end, template_push: { message: "for next time", wake: true } }
`;

const SCRIPT = `- { say: "Let me look.", tool_calls: [{ name: read_file, args: { path: a } }] }
- { delay: 3ms, say: "And there.", tool_calls: [{ name: read_file, args: { path: b } }, { name: list, args: {} }] }
- { say: "That was all." }
- { delay: 10ms, say: "One more." }
`;

const COMMAND = `#!/bin/sh
cat > /dev/null
echo "answered by a command"
`;

/** Pushed by the passive hook at turn_end: one for every turn that ended. */
export function endPushId(session: string, turn: number): string {
  return `${session}/${turn}/turn_end/startup:after`;
}

export async function createWorld(binaries: Binaries, first: Flavour): Promise<World> {
  const root = await mkdtemp(join(binaries.scratch, "world-"));
  const dir = join(root, "control");
  const home = join(root, "home");
  await mkdir(join(home, ".reyn"), { recursive: true, mode: 0o700 });
  await mkdir(dir);
  await writeFile(join(dir, "script.yaml"), SCRIPT);
  await writeFile(join(dir, "slow.yaml"), "- { delay: 60s, say: too late }\n");
  const command = join(dir, "agent.sh");
  await writeFile(command, COMMAND);
  await chmod(command, 0o755);
  const env = { PATH: "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", NO_COLOR: "1" };
  let flavour = first;

  const configure = async (next: Flavour) => {
    flavour = next;
    const models = {
      echo: "model: { provider: echo }\n",
      scripted: "model: { provider: scripted, script: script.yaml }\n",
      slow: "model: { provider: scripted, script: slow.yaml }\n",
      command: "",
    };
    const own = next.model === "command" ? `model: { provider: command, command: ["${command}"] }\n` : "";
    await writeFile(join(home, ".reyn", "config.yaml"), own, { mode: 0o600 });
    await writeFile(
      join(dir, "reyn.yaml"),
      `${models[next.model]}resume: ${next.resume}\nsafety: { on_limit: ${next.onLimit}, loop: ` +
        `{ max_hook_driven_turns: ${next.cap} } }\n${HOOKS}`,
    );
  };
  await configure(first);

  const begin = (args: readonly string[], { stdin, killAt, limitMs }: RunOptions = {}): Started =>
    start(killAt === undefined ? binaries.reyn : binaries.reynTest, args, {
      cwd: dir,
      env: killAt === undefined ? env : { ...env, REYN_TEST_KILL_AT: killAt },
      ...(stdin === undefined ? {} : { stdin }),
      ...(limitMs === undefined ? {} : { limitMs }),
    });
  return {
    dir,
    stateDir: join(dir, ".reyn", "state"),
    get flavour() {
      return flavour;
    },
    configure,
    start: begin,
    run: (args, options) => begin(args, options).ended,
  };
}
