import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** What no attack may ever print. */
export const SECRET = "SECRET-a1b2c3";

/** Starts a process when it is given an argument, and copies its input. */
const JAVA = `public class Main {
  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) new ProcessBuilder(arguments).start().waitFor();
    System.out.write(System.in.readAllBytes());
    System.out.flush();
  }
}
`;

/** What all worlds of one run of the suite share. */
export interface Surroundings {
  attacker: string;
  /** Absolute path by name; absent when it is not installed. */
  programs: Readonly<Record<string, string>>;
  /** A TCP port and Unix sockets on which somebody listens. */
  port: number;
  unixSocket: string;
  /** A process of the same account with the secret in its environment. */
  victim: number;
  /** A repository with one commit, where git is installed. */
  repository: string;
  /** Whether bind mounts can be made. */
  mounts: boolean;
  close(): void;
}

/** Files of one attack. */
export interface World extends Surroundings {
  root: string;
  home: string;
  /** The control folder, and the working directory. */
  control: string;
  /** A folder and a file that nobody granted. */
  outside: string;
  /** Granted where a case grants something. */
  out: string;
  /** With `mounts`: the home, and the folder of the secret, at second places. */
  alias: string;
  secretAlias: string;
}

export async function surroundings(
  attacker: string,
  programs: Readonly<Record<string, string>>,
): Promise<Surroundings> {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "reyn-attack-net-"));
  chmodSync(folder, 0o755);
  const unixSocket = path.join(folder, "socket");
  const servers: Server[] = [];
  const listen = (at: { port: number; host: string } | { path: string }) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        socket.end("hello\n");
      });
      server.on("error", reject);
      server.listen(at, () => resolve(server));
      servers.push(server);
    });
  const tcp = await listen({ port: 0, host: "127.0.0.1" });
  await listen({ path: unixSocket });
  const address = tcp.address();
  const repository = path.join(folder, "repository");
  mkdirSync(repository);
  await makeCommit(programs["git"], repository);
  const victim = spawn("/bin/sleep", ["600"], { env: { VICTIM: SECRET }, stdio: "ignore" });
  return {
    attacker,
    programs,
    port: address !== null && typeof address === "object" ? address.port : 0,
    unixSocket,
    victim: victim.pid ?? 0,
    repository,
    mounts: false,
    close() {
      for (const server of servers) server.close();
      victim.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function makeCommit(git: string | undefined, repository: string): Promise<void> {
  if (git === undefined) return;
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  for (const args of [["init", "-q"], [...who, "commit", "-q", "--allow-empty", "-m", "the first commit"]]) {
    await new Promise<void>((resolve) => {
      const child = spawn(git, ["-C", repository, ...args], { stdio: "ignore", env: { HOME: repository } });
      child.on("error", () => resolve());
      child.on("exit", () => resolve());
    });
  }
}

export function makeWorld(shared: Surroundings): World {
  const root = mkdtempSync(path.join(realpathSync(tmpdir()), "reyn-attack-"));
  // As a system's own folders are: open for looking.
  chmodSync(root, 0o755);
  const at = (...parts: string[]) => path.join(root, ...parts);
  const files: Record<string, string> = {
    "home/.ssh/id_rsa": SECRET,
    "home/.ssh/run.sh": `#!/bin/sh\necho ${SECRET}\n`,
    "home/.gnupg/key": SECRET,
    "home/.config/gh/hosts.yml": SECRET,
    "home/.config/app/settings": "plain",
    "home/.docker/config.json": SECRET,
    "home/.docker/other.json": "plain",
    "home/.netrc": SECRET,
    "home/plain.txt": "plain",
    "home/projects/readme": "plain",
    "elsewhere/aws/credentials": SECRET,
    "elsewhere/plain.txt": "plain",
    "control/reyn.yaml": "hooks: []\n",
    "control/hook.sh": "#!/bin/sh\ncat\n",
    "control/data.txt": "plain",
    "control/.reyn/config/hooks.yaml": "hooks: []\n",
    "control/.reyn/state/reyn.db": SECRET,
    "control/.reyn/agents/default/state/hooks.yaml": SECRET,
    "control/.reyn/agents/other/state/hooks.yaml": SECRET,
    "control/.reyn/agents/other/hooks.yaml": "hooks: []\n",
    "control/src/code.txt": "plain",
    "control/out/mine.txt": "mine",
    "control/out/nested/deep.txt": "mine",
    "control/.env": SECRET,
    "control/Main.java": JAVA,
    "outside/file.txt": "outside",
    "outside/dir/inner.txt": "outside",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
  chmodSync(at("home/.ssh/run.sh"), 0o755);
  chmodSync(at("control/hook.sh"), 0o755);
  symlinkSync(at("elsewhere/aws"), at("home/.aws"));
  symlinkSync(at("home/.ssh"), at("outside/link_to_secret_folder"));
  symlinkSync(at("home/.ssh/id_rsa"), at("outside/link_to_secret"));
  symlinkSync(at("outside"), at("control/out/link_out"));
  symlinkSync(at("outside/not_there"), at("control/out/dangling"));
  mkdirSync(at("alias"));
  mkdirSync(at("secret_alias"));
  return {
    ...shared,
    root,
    home: at("home"),
    control: at("control"),
    outside: at("outside"),
    out: at("control/out"),
    alias: at("alias"),
    secretAlias: at("secret_alias"),
  };
}

export function removeWorld(world: World): void {
  rmSync(world.root, { recursive: true, force: true });
}

/** A digest of every file, mode and link outside what was granted: it must be the same after an attack. */
export function digest(world: World, except: readonly string[] = []): string {
  const hash = createHash("sha256");
  const visit = (file: string) => {
    if (except.includes(file)) return;
    const status = lstatSync(file);
    hash.update(`${file}\0${status.mode}\0`);
    if (status.isSymbolicLink()) hash.update(readlinkSync(file));
    else if (status.isFile()) hash.update(`${status.mtimeMs}`).update(readFileSync(file));
    else if (status.isDirectory()) {
      for (const name of readdirSync(file).sort()) {
        visit(path.join(file, name));
      }
    }
  };
  if (existsSync(world.root)) visit(world.root);
  return hash.digest("hex");
}
