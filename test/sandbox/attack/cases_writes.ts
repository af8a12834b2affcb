import { constants } from "node:fs";
import { type AttackCase, counted, notStarted, refused, works } from "./attack_case.ts";
import type { World } from "./world.ts";

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = constants;
const RESOLVE_TRUNCATE = O_RDONLY | O_TRUNC;
const denied = refused("EACCES", "EPERM");
const file = (w: World) => `${w.outside}/file.txt`;

/** Name, attack: each tries to change a file or folder that nobody granted. */
const CHANGES: [family: number, name: string, attack: (w: World) => (string | number)[]][] = [
  [19, "create in the working directory", (w) => ["open", `${w.control}/new`, O_WRONLY | O_CREAT]],
  [19, "create among temporary files", (w) => ["open", `${w.root}/../reyn-attack-made`, O_WRONLY | O_CREAT]],
  [19, "create in shared memory", () => ["open", "/dev/shm/reyn-attack", O_WRONLY | O_CREAT]],
  [19, "open for writing", (w) => ["open", file(w), O_WRONLY]],
  [19, "open for reading and writing", (w) => ["open", file(w), O_RDWR]],
  [19, "open for appending", (w) => ["open", file(w), O_WRONLY | O_APPEND]],
  [19, "write a file of the control folder", (w) => ["write", `${w.control}/data.txt`, "x"]],
  [19, "write through a symlink", (w) => ["write", `${w.out}/link_out/file.txt`, "x"]],
  [19, "reopen what was opened as a path", (w) => ["reopen", file(w), O_WRONLY]],
  [19, "reopen what was opened for reading", (w) => ["reopen_read", file(w)]],
  [20, "truncate", (w) => ["truncate", file(w)]],
  [20, "open for reading, truncating", (w) => ["open", file(w), RESOLVE_TRUNCATE]],
  [20, "openat2, truncating", (w) => ["openat2", file(w), RESOLVE_TRUNCATE]],
  [20, "openat2 for writing", (w) => ["openat2", file(w), O_WRONLY]],
  [20, "a file without a name", (w) => ["tmpfile", w.outside]],
  [21, "mkdir", (w) => ["mkdir", `${w.outside}/new`]],
  [21, "rmdir", (w) => ["rmdir", w.alias]],
  [21, "unlink", (w) => ["unlink", file(w)]],
  [21, "rename", (w) => ["rename", file(w), `${w.outside}/other`]],
  [21, "exchange", (w) => ["exchange", file(w), `${w.outside}/dir/inner.txt`]],
  [21, "hard link", (w) => ["link", file(w), `${w.outside}/other`]],
  [21, "symlink", (w) => ["symlink", "/etc", `${w.outside}/other`]],
  [21, "fifo", (w) => ["mkfifo", `${w.outside}/other`]],
  [21, "device", (w) => ["mknod", `${w.outside}/other`]],
  [22, "map shared for writing", (w) => ["mmap_shared", file(w)]],
  [23, "its own memory as a file", () => ["write_own_memory"]],
  [23, "its score for the OOM killer", () => ["write", "/proc/self/oom_score_adj", "1000"]],
];

const METADATA: [name: string, attack: (w: World) => (string | number)[]][] = [
  ["chmod", (w) => ["chmod", file(w), 0o777]],
  ["fchmod", (w) => ["fchmod", file(w), 0o777]],
  ["fchmodat", (w) => ["fchmodat", w.outside, "file.txt", 0o777]],
  ["chmod by the name of a descriptor", (w) => ["chmod_proc", file(w), 0o777]],
  ["chown", (w) => ["chown", file(w)]],
  ["lchown", (w) => ["lchown", file(w)]],
  ["fchown", (w) => ["fchown", file(w)]],
  ["utimensat", (w) => ["utimensat", file(w)]],
  ["futimens", (w) => ["futimens", file(w)]],
  ["utimes", (w) => ["utimes", file(w)]],
  ["utime", (w) => ["utime", file(w)]],
  ["setxattr", (w) => ["setxattr", file(w)]],
  ["lsetxattr", (w) => ["lsetxattr", file(w)]],
  ["fsetxattr", (w) => ["fsetxattr", file(w)]],
  ["removexattr", (w) => ["removexattr", file(w)]],
];

const floor: AttackCase[] = [
  ...CHANGES.map(([family, name, attack]): AttackCase => ({ family, name, attack, expect: denied })),
  {
    family: 22,
    name: "allocate on what is open for reading",
    attack: (w) => ["fallocate_read_only", file(w)],
    expect: refused("EBADF"),
  },
  {
    family: 23,
    name: "the machine's core pattern",
    attack: () => ["open", "/proc/sys/kernel/core_pattern", O_WRONLY],
    expect: denied,
  },
  ...METADATA.map(([name, attack]): AttackCase => ({
    family: 24,
    name,
    attack,
    expect: counted("metadata", "EPERM"),
  })),
  {
    family: 24,
    name: "fchmodat2",
    attack: (w) => ["fchmodat2", file(w), 0o777],
    expect: refused("EPERM", "ENOSYS"),
  },
  {
    family: 24,
    name: "a file's flags",
    attack: (w) => ["set_flags", file(w)],
    expect: refused("EPERM", "ENOTTY"),
  },
  {
    family: 24,
    name: "a file's extended flags",
    attack: (w) => ["set_fsxattr", file(w)],
    expect: refused("EPERM", "ENOTTY", "EOPNOTSUPP"),
  },
  {
    family: 24,
    name: "file_setattr",
    attack: (w) => ["file_setattr", file(w)],
    expect: refused("EPERM", "ENOSYS"),
  },
  {
    family: 25,
    name: "SysV shared memory",
    attack: () => ["shmget"],
    control: false,
    expect: refused("EPERM"),
  },
  { family: 25, name: "SysV messages", attack: () => ["msgget"], control: false, expect: refused("EPERM") },
  { family: 25, name: "SysV semaphores", attack: () => ["semget"], control: false, expect: refused("EPERM") },
  {
    family: 25,
    name: "POSIX messages",
    attack: () => ["mq_open", "reyn-attack"],
    control: false,
    expect: refused("EPERM"),
  },
  { family: 26, name: "/dev/null", attack: () => ["open", "/dev/null", O_RDWR], expect: works() },
  { family: 26, name: "/dev/zero", attack: () => ["open", "/dev/zero", O_RDONLY], expect: works() },
  { family: 26, name: "/dev/urandom", attack: () => ["open", "/dev/urandom", O_RDONLY], expect: works() },
  { family: 26, name: "memory as a file", attack: () => ["memfd_write"], expect: works() },
  {
    family: 26,
    name: "/dev/stderr, which is a pipe",
    program: () => ["dash", "-c", "echo out > /dev/stdout; echo err > /dev/stderr"],
    expect: works("out"),
  },
  ...["/dev/vda", "/dev/sda", "/dev/mem", "/proc/kcore", "/dev/kmsg", "/dev/input/event0", "/dev/tty0"].map(
    (device): AttackCase => ({
      family: 27,
      name: device,
      attack: () => ["open", device, O_RDONLY],
      expect: refused("EACCES", "EPERM", "ENOENT", "ENXIO"),
    }),
  ),
  {
    family: 27,
    name: "list /dev",
    attack: () => ["open", "/dev/vda1", O_RDWR],
    expect: refused("EACCES", "ENOENT"),
  },
];

const writing = () => ({ writePaths: ["out"] });
const granted: [string, (w: World) => (string | number)[]][] = [
  ["create", (w) => ["write", `${w.out}/new`, "x"]],
  ["write", (w) => ["write", `${w.out}/mine.txt`, "x"]],
  ["truncate", (w) => ["truncate", `${w.out}/mine.txt`]],
  ["open truncating", (w) => ["open", `${w.out}/mine.txt`, O_WRONLY | O_TRUNC]],
  ["mkdir", (w) => ["mkdir", `${w.out}/folder`]],
  ["unlink", (w) => ["unlink", `${w.out}/mine.txt`]],
  ["rename into a folder below", (w) => ["rename", `${w.out}/mine.txt`, `${w.out}/nested/moved`]],
  ["exchange", (w) => ["exchange", `${w.out}/mine.txt`, `${w.out}/nested/deep.txt`]],
  ["hard link", (w) => ["link", `${w.out}/mine.txt`, `${w.out}/nested/linked`]],
  ["symlink", (w) => ["symlink", "mine.txt", `${w.out}/linked`]],
  ["fifo", (w) => ["mkfifo", `${w.out}/fifo`]],
  ["a file without a name", (w) => ["tmpfile", w.out]],
  ["chmod", (w) => ["chmod", `${w.out}/mine.txt`, 0o600]],
  ["fchmod", (w) => ["fchmod", `${w.out}/mine.txt`, 0o600]],
  ["chmod relative to a folder", (w) => ["fchmodat", w.out, "mine.txt", 0o600]],
  ["chmod relative to the working directory", (w) => ["chdir_chmod", w.out, "mine.txt", 0o600]],
  ["chmod by the name of a descriptor", (w) => ["chmod_proc", `${w.out}/mine.txt`, 0o600]],
  ["utimensat", (w) => ["utimensat", `${w.out}/mine.txt`]],
  ["futimens", (w) => ["futimens", `${w.out}/mine.txt`]],
];

const OUTSIDE: [string, (w: World) => (string | number)[]][] = [
  ["..", (w) => ["write", `${w.out}/../data.txt`, "x"]],
  ["create by ..", (w) => ["write", `${w.out}/../new`, "x"]],
  ["a sibling that begins alike", (w) => ["mkdir", `${w.out}2`]],
  ["a symlink to a folder outside", (w) => ["write", `${w.out}/link_out/new`, "x"]],
  ["a dangling symlink to outside", (w) => ["write", `${w.out}/dangling`, "x"]],
  ["rename out", (w) => ["rename", `${w.out}/mine.txt`, `${w.outside}/mine.txt`]],
  ["rename in", (w) => ["rename", `${w.outside}/file.txt`, `${w.out}/file.txt`]],
  ["exchange with outside", (w) => ["exchange", `${w.out}/mine.txt`, `${w.outside}/file.txt`]],
  ["hard link in", (w) => ["link", `${w.outside}/file.txt`, `${w.out}/file.txt`]],
  ["hard link in by descriptor", (w) => ["link_descriptor", `${w.outside}/file.txt`, `${w.out}/file.txt`]],
  ["hard link of a secret in", (w) => ["link", `${w.home}/.netrc`, `${w.out}/netrc`]],
  ["a device", (w) => ["mknod", `${w.out}/device`]],
  ["the setuid bit", (w) => ["chmod", `${w.out}/mine.txt`, 0o4755]],
  ["the setgid bit", (w) => ["fchmod", `${w.out}/mine.txt`, 0o2755]],
  ["an extended attribute", (w) => ["setxattr", `${w.out}/mine.txt`]],
  ["chown", (w) => ["chown", `${w.out}/mine.txt`]],
  ["chmod outside", (w) => ["chmod", `${w.outside}/file.txt`, 0o777]],
  ["chmod by ..", (w) => ["chmod", `${w.out}/../data.txt`, 0o777]],
  ["chmod through a symlink", (w) => ["chmod", `${w.out}/link_out/file.txt`, 0o777]],
  ["chmod relative to a folder outside", (w) => ["fchmodat", w.outside, "file.txt", 0o777]],
  ["chmod by the name of a descriptor outside", (w) => ["chmod_proc", `${w.outside}/file.txt`, 0o777]],
  ["utimensat outside", (w) => ["utimensat", `${w.outside}/file.txt`]],
  ["the settings beside", (w) => ["write", `${w.control}/reyn.yaml`, "x"]],
  ["the hooks beside", (w) => ["write", `${w.control}/.reyn/config/hooks.yaml`, "x"]],
  ["shared memory", () => ["write", "/dev/shm/reyn-attack", "x"]],
  ["sysctl", () => ["open", "/proc/sys/kernel/core_pattern", O_WRONLY]],
];

const lifted: AttackCase[] = [
  ...granted.map(([name, attack]): AttackCase => ({
    family: 28,
    name,
    attack,
    grants: writing,
    expect: works(),
  })),
  {
    family: 28,
    name: "touch -d",
    program: (w) => ["touch", "-d", "2020-01-01", `${w.out}/mine.txt`],
    grants: writing,
    expect: works(),
  },
  {
    family: 28,
    name: "git init and config",
    program: (
      w,
    ) => ["bash", "-c", `cd ${w.out} && git init -q && git config user.name x && git config user.name`],
    grants: () => ({ ...writing(), subprocess: true }),
    expect: works("x"),
  },
  {
    family: 28,
    name: "a granted file",
    attack: (w) => ["write", `${w.control}/data.txt`, "x"],
    grants: () => ({ writePaths: ["data.txt"] }),
    expect: works(),
  },
  ...OUTSIDE.map(([name, attack]): AttackCase => ({
    family: 29,
    name,
    attack,
    grants: writing,
    expect: refused("EACCES", "EPERM", "EXDEV"),
  })),
  {
    family: 29,
    name: "beside a granted file",
    attack: (w) => ["write", `${w.control}/src/code.txt`, "x"],
    grants: () => ({ writePaths: ["data.txt"] }),
    expect: denied,
  },
  ...["/dev", "/proc", "/sys", "/proc/self", "/dev/pts"].map((folder): AttackCase => ({
    family: 38,
    name: `a grant of ${folder}`,
    attack: () => ["fork"],
    grants: () => ({ writePaths: [folder] }),
    control: false,
    expect: notStarted("no hook may"),
  })),
];

/** The same refusals where Landlock knows less. */
const olderKernels: AttackCase[] = [1, 2, 3, 4, 5].flatMap((abi) => [
  ...CHANGES.filter(([family]) => family <= 22).map(([family, name, attack]): AttackCase => ({
    family,
    name: `${name}, Landlock ABI ${abi}`,
    attack,
    abi,
    control: false,
    expect: refused("EACCES", "EPERM", "ENOSYS", "EXDEV"),
  })),
  {
    family: 28,
    name: `write where it is granted, Landlock ABI ${abi}`,
    attack: (w: World) => ["write", `${w.out}/new`, "x"],
    grants: writing,
    abi,
    control: false,
    expect: works(),
  },
]);

export const writeCases: AttackCase[] = [...floor, ...lifted, ...olderKernels];
