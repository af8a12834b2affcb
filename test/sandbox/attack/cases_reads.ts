import { constants, mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { type AttackCase, both, counted, fails, notStarted, refused, works } from "./attack_case.ts";
import type { World } from "./world.ts";

const { O_RDONLY } = constants;
const unreadable = refused("EACCES");
const key = (w: World) => `${w.home}/.ssh/id_rsa`;

const SECRETS: [string, (w: World) => string][] = [
  ["the ssh key", key],
  ["credentials behind a symlinked folder", (w) => `${w.home}/.aws/credentials`],
  ["the target of that symlink", (w) => `${w.root}/elsewhere/aws/credentials`],
  ["the gpg key", (w) => `${w.home}/.gnupg/key`],
  ["the token of gh", (w) => `${w.home}/.config/gh/hosts.yml`],
  ["netrc", (w) => `${w.home}/.netrc`],
  ["the settings of Docker", (w) => `${w.home}/.docker/config.json`],
  ["shadow", () => "/etc/shadow"],
  ["the store", (w) => `${w.control}/.reyn/state/reyn.db`],
  ["a session's folder", (w) => `${w.control}/.reyn/agents/default/state/hooks.yaml`],
  ["a session's folder of another agent", (w) => `${w.control}/.reyn/agents/other/state/hooks.yaml`],
];

const READABLE: [string, (w: World) => string][] = [
  ["beside the secrets", (w) => `${w.home}/plain.txt`],
  ["beside the settings of Docker", (w) => `${w.home}/.docker/other.json`],
  ["beside the token of gh", (w) => `${w.home}/.config/app/settings`],
  ["beside the symlink's target", (w) => `${w.root}/elsewhere/plain.txt`],
  ["an agent's hooks", (w) => `${w.control}/.reyn/agents/other/hooks.yaml`],
  ["the settings", (w) => `${w.control}/reyn.yaml`],
  ["a system file", () => "/etc/hostname"],
];

/** Other names of the ssh key. */
const DETOURS: [string, (w: World) => (string | number)[]][] = [
  ["a symlink", (w) => ["read", `${w.outside}/link_to_secret`]],
  ["a symlinked folder", (w) => ["read", `${w.outside}/link_to_secret_folder/id_rsa`]],
  ["..", (w) => ["read", `${w.home}/projects/../.ssh/id_rsa`]],
  ["/proc/self/root", (w) => ["read", `/proc/self/root${key(w)}`]],
  ["/proc/thread-self/root", (w) => ["read", `/proc/thread-self/root${key(w)}`]],
  ["/proc/self/cwd", () => ["read", "/proc/self/cwd/../home/.ssh/id_rsa"]],
  ["the root of another process", (w) => ["read", `/proc/${w.victim}/root${key(w)}`]],
  ["the root of process 1", (w) => ["read", `/proc/1/root${key(w)}`]],
  ["a path descriptor, opened again", (w) => ["reopen", key(w), O_RDONLY]],
  ["openat2", (w) => ["openat2", key(w), O_RDONLY]],
  ["the folder as working directory", (w) => ["chdir_then_read", `${w.home}/.ssh`, "id_rsa"]],
  ["execute a script there", (w) => ["exec", `${w.home}/.ssh/run.sh`]],
  ["mapping it", (w) => ["mmap_shared", key(w)]],
];

const floor: AttackCase[] = [
  ...SECRETS.map(([name, file]): AttackCase => ({
    family: 30,
    name: `read ${name}`,
    attack: (w) => ["read", file(w)],
    expect: unreadable,
  })),
  {
    family: 30,
    name: "read what the operator added",
    attack: (w) => ["read", `${w.control}/.env`],
    denyRead: () => [".env"],
    expect: unreadable,
  },
  {
    family: 30,
    name: "an operator's folder beats a grant",
    attack: (w) => ["read", `${w.out}/nested/deep.txt`],
    denyRead: () => ["out/nested"],
    grants: () => ({ writePaths: ["out"] }),
    expect: unreadable,
  },
  ...READABLE.map(([name, file]): AttackCase => ({
    family: 36,
    name: `read ${name}`,
    attack: (w) => ["read", file(w)],
    expect: works(),
  })),
  ...DETOURS.map(([name, attack]): AttackCase => ({
    family: name === "execute a script there" ? 33 : 31,
    name,
    attack,
    expect: refused("EACCES", "ENOENT", "EPERM"),
  })),
  { family: 31, name: "cat", program: (w) => ["cat", key(w)], expect: fails() },
  {
    family: 31,
    name: "python",
    program: (w) => ["python3", "-c", `print(open('${key(w)}').read())`],
    expect: fails(),
  },
  {
    family: 31,
    name: "git as a reader",
    program: (w) => ["git", "hash-object", key(w)],
    expect: fails(),
  },
  ...["alias/.ssh/id_rsa", "secret_alias/id_rsa", "alias/.netrc", "alias/.config/gh/hosts.yml"].map(
    (file): AttackCase => ({
      family: 32,
      name: `by a second mount: ${file}`,
      attack: (w) => ["read", `${w.root}/${file}`],
      needsMounts: true,
      expect: unreadable,
    }),
  ),
  {
    family: 32,
    name: "by its own name, with a second mount",
    attack: (w) => ["read", key(w)],
    needsMounts: true,
    expect: unreadable,
  },
  {
    family: 32,
    name: "beside, by a second mount",
    attack: (w) => ["read", `${w.alias}/plain.txt`],
    needsMounts: true,
    expect: works("plain"),
  },
  {
    family: 32,
    name: "write by a second mount",
    attack: (w) => ["write", `${w.alias}/.ssh/authorized_keys`, "x"],
    grants: (w) => ({ writePaths: [w.alias] }),
    needsMounts: true,
    expect: refused("EACCES"),
  },
  { family: 33, name: "open by handle", attack: (w) => ["open_by_handle", key(w)], expect: refused("EPERM") },
  ...["environ", "mem", "maps", "fd/0", "root/etc/hostname", "cwd", "auxv", "syscall"].map((
    file,
  ): AttackCase => ({
    family: 34,
    name: `another process: ${file}`,
    attack: (w) => [file === "cwd" ? "readlink" : "read", `/proc/${w.victim}/${file}`],
    expect: refused("EACCES", "EPERM", "ENOENT", "ESRCH"),
  })),
  {
    family: 34,
    name: "the environment of process 1",
    attack: () => ["read", "/proc/1/environ"],
    expect: refused("EACCES", "EPERM"),
  },
  {
    family: 34,
    name: "the environment of reyn",
    attack: () => ["read", `/proc/${process.pid}/environ`],
    expect: refused("EACCES", "EPERM"),
  },
  {
    family: 34,
    name: "another process: list its descriptors",
    attack: (w) => ["list", `/proc/${w.victim}/fd`],
    expect: refused("EACCES", "EPERM", "ENOENT"),
  },
  {
    family: 34,
    name: "its own environment is its own",
    program: () => ["dash", "-c", "read -r x < /proc/self/environ; echo fine"],
    expect: works("fine"),
  },
  {
    family: 35,
    name: "made while it runs",
    attack: (w) => ["wait_and_read", `${w.home}/.kube/config`],
    meanwhile: (w) => {
      mkdirSync(`${w.home}/.kube`);
      writeFileSync(`${w.home}/.kube/config`, "SECRET-a1b2c3");
    },
    expect: unreadable,
  },
  {
    family: 35,
    name: "made while it runs, a file",
    attack: (w) => ["wait_and_read", `${w.home}/.git-credentials`],
    meanwhile: (w) => writeFileSync(`${w.home}/.git-credentials`, "SECRET-a1b2c3"),
    expect: unreadable,
  },
];

const LISTS: [string, (w: World) => (string | number)[]][] = [
  ["by name", (w) => ["list", `${w.home}/.ssh`]],
  ["with a slash", (w) => ["list", `${w.home}/.ssh/`]],
  ["with a dot", (w) => ["list", `${w.home}/.ssh/.`]],
  ["by ..", (w) => ["list", `${w.home}/projects/../.ssh`]],
  ["by a symlink", (w) => ["list", `${w.outside}/link_to_secret_folder`]],
  ["by /proc/self/root", (w) => ["list", `/proc/self/root${w.home}/.ssh`]],
  ["by a path descriptor", (w) => ["list_by_descriptor", `${w.home}/.ssh`]],
  ["by the old call", (w) => ["list_old", `${w.home}/.ssh`]],
];

const listings: AttackCase[] = [
  ...LISTS.map(([name, attack]): AttackCase => ({
    family: 36,
    name: `list a secret folder ${name}`,
    attack,
    expect: counted("listing", "EACCES"),
  })),
  ...[
    ["the home", (w: World) => w.home],
    ["/", () => "/"],
    ["/etc", () => "/etc"],
    ["a folder beside", (w: World) => `${w.home}/projects`],
    ["the control folder", (w: World) => w.control],
  ].map(([name, folder]): AttackCase => ({
    family: 36,
    name: `list ${String(name)}`,
    attack: (w) => ["list", typeof folder === "function" ? folder(w) : ""],
    expect: works(),
  })),
  { family: 36, name: "stat of a secret is visible", attack: (w) => ["stat", key(w)], expect: works("size") },
];

const HOME_GRANT = (w: World) => ({ writePaths: [w.home] });
const WIDE: [string, (w: World) => (string | number)[]][] = [
  ["read the key", (w) => ["read", key(w)]],
  ["move the key", (w) => ["rename", key(w), `${w.home}/projects/key`]],
  ["move the folder", (w) => ["rename", `${w.home}/.ssh`, `${w.home}/projects/ssh`]],
  ["move the folder above", (w) => ["rename", w.home, `${w.root}/other`]],
  ["move a folder above, within", (w) => ["rename", `${w.home}/.config`, `${w.home}/projects/config`]],
  ["link the key", (w) => ["link", key(w), `${w.home}/projects/key`]],
  ["link the key by descriptor", (w) => ["link_descriptor", key(w), `${w.home}/projects/key`]],
  ["exchange the folder", (w) => ["exchange", `${w.home}/.ssh`, `${w.home}/projects`]],
  ["exchange the key", (w) => ["exchange", key(w), `${w.home}/projects/readme`]],
  ["plant a key", (w) => ["write", `${w.home}/.ssh/authorized_keys`, "x"]],
  ["make a missing secret folder", (w) => ["mkdir", `${w.home}/.kube`]],
  ["make a missing secret file", (w) => ["write", `${w.home}/.npmrc`, "x"]],
  ["remove the key", (w) => ["unlink", key(w)]],
  ["change the mode of the key", (w) => ["chmod", key(w), 0o644]],
  ["change the mode of the folder", (w) => ["chmod", `${w.home}/.ssh`, 0o755]],
  ["change the mode of the folder above", (w) => ["chmod", w.home, 0o777]],
  ["create at the top level", (w) => ["write", `${w.home}/new`, "x"]],
  ["replace the link to a secret folder", (w) => ["unlink", `${w.home}/.aws`]],
];

const wide: AttackCase[] = [
  ...WIDE.map(([name, attack]): AttackCase => ({
    family: 37,
    name: `the home granted: ${name}`,
    attack,
    grants: HOME_GRANT,
    expect: refused("EACCES", "EPERM", "EXDEV"),
  })),
  ...WIDE.slice(0, 10).map(([name, attack]): AttackCase => ({
    family: 37,
    name: `everything granted: ${name}`,
    attack,
    grants: () => ({ writePaths: ["/"] }),
    control: false,
    expect: refused("EACCES", "EPERM", "EXDEV"),
  })),
  {
    family: 37,
    name: "everything granted: sysctl",
    attack: () => ["open", "/proc/sys/kernel/core_pattern", constants.O_WRONLY],
    grants: () => ({ writePaths: ["/"] }),
    control: false,
    expect: refused("EACCES", "EPERM"),
  },
  {
    family: 37,
    name: "the home granted: write in a folder of it",
    attack: (w) => ["write", `${w.home}/projects/new`, "x"],
    grants: HOME_GRANT,
    expect: works(),
  },
  {
    family: 37,
    name: "the control folder granted: its settings",
    attack: (w) => ["write", `${w.control}/reyn.yaml`, "x"],
    grants: () => ({ writePaths: ["."] }),
    expect: refused("EACCES"),
  },
  {
    family: 37,
    name: "the control folder granted: new settings",
    attack: (w) => ["write", `${w.control}/reyn.local.yaml`, "x"],
    grants: () => ({ writePaths: ["."] }),
    expect: refused("EACCES"),
  },
  {
    family: 37,
    name: "the control folder granted: its hooks",
    attack: (w) => ["rename", `${w.control}/out`, `${w.control}/.reyn/config/out`],
    grants: () => ({ writePaths: ["."] }),
    expect: refused("EACCES", "EXDEV"),
  },
  {
    family: 37,
    name: "the control folder granted: the store",
    attack: (w) => ["read", `${w.control}/.reyn/state/reyn.db`],
    grants: () => ({ writePaths: ["."] }),
    expect: unreadable,
  },
  {
    family: 37,
    name: "the control folder granted: its sources",
    attack: (w) => ["write", `${w.control}/src/code.txt`, "x"],
    grants: () => ({ writePaths: ["."] }),
    expect: works(),
  },
];

const REFUSED_GRANTS: [string, (w: World) => string, string][] = [
  ["a secret folder", (w) => `${w.home}/.ssh`, "read or write"],
  ["below a secret folder", (w) => `${w.home}/.ssh/sub/../id_rsa`, "read or write"],
  ["a symlink to a secret folder", (w) => `${w.outside}/link_to_secret_folder`, "read or write"],
  ["the target of a symlinked secret", (w) => `${w.root}/elsewhere/aws`, "read or write"],
  ["by ..", (w) => `${w.home}/projects/../.gnupg`, "read or write"],
  ["the settings", () => "reyn.yaml", "no hook may write"],
  ["below .reyn", () => ".reyn/config", "no hook may write"],
];

const refusedGrants: AttackCase[] = [
  ...REFUSED_GRANTS.map(([name, folder, text]): AttackCase => ({
    family: 38,
    name: `a grant of ${name}`,
    attack: () => ["fork"],
    grants: (w) => ({ writePaths: [folder(w)] }),
    control: false,
    expect: notStarted(text),
  })),
  {
    family: 38,
    name: "a grant of nothing",
    attack: () => ["fork"],
    grants: () => ({ writePaths: ["not/there"] }),
    control: false,
    expect: both(notStarted("ENOENT")),
  },
];

export const readCases: AttackCase[] = [...floor, ...listings, ...wide, ...refusedGrants];
