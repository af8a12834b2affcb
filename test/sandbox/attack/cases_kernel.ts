import { type AttackCase, counted, refused, works } from "./attack_case.ts";

const SIGTERM = 15;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCSCTTY = 0x540e;
const HIGH = 2 ** 32;

const signals: AttackCase[] = [
  ...["kill", "tgkill", "sigqueue", "pidfd_signal"].map((name): AttackCase => ({
    family: 39,
    name: `${name} to the outside`,
    attack: (w) => [name, w.victim, 0],
    control: name !== "sigqueue",
    expect: refused("EPERM"),
  })),
  { family: 39, name: "the supervisor", attack: () => ["kill_parent", 0], expect: refused("EPERM") },
  { family: 39, name: "itself", attack: () => ["raise", 0], expect: works() },
  ...[1, 5].flatMap((abi): AttackCase[] => [
    ...["kill", "tgkill", "sigqueue", "pidfd_signal"].map((name): AttackCase => ({
      family: 39,
      name: `${name} to the outside, Landlock ABI ${abi}`,
      attack: (w) => [name, w.victim, 0],
      abi,
      control: false,
      expect: refused("EPERM"),
    })),
    {
      family: 39,
      name: `kill with subprocess, Landlock ABI ${abi}`,
      attack: (w) => ["kill", w.victim, 0],
      grants: () => ({ subprocess: true }),
      abi,
      control: false,
      expect: refused("EPERM"),
    },
    {
      family: 39,
      name: `everyone with subprocess, Landlock ABI ${abi}`,
      attack: () => ["kill", -1, 0],
      grants: () => ({ subprocess: true }),
      abi,
      control: false,
      expect: refused("EPERM"),
    },
    {
      family: 39,
      name: `by the owner of a pipe, Landlock ABI ${abi}`,
      attack: (w) => ["signal_by_owner", w.victim, SIGTERM],
      abi,
      control: false,
      expect: refused("EPERM"),
    },
    {
      family: 39,
      name: `itself, Landlock ABI ${abi}`,
      attack: () => ["raise", 0],
      abi,
      control: false,
      expect: works(),
    },
    {
      family: 42,
      name: `a child is signalled, Landlock ABI ${abi}`,
      attack: () => ["kill_own_child"],
      grants: () => ({ subprocess: true }),
      abi,
      control: false,
      expect: works(),
    },
  ]),
];

const processes: AttackCase[] = [
  { family: 40, name: "ptrace: be traced", attack: () => ["ptrace_me"], expect: refused("EPERM") },
  {
    family: 40,
    name: "ptrace: attach",
    attack: (w) => ["ptrace_attach", w.victim],
    control: false,
    expect: refused("EPERM"),
  },
  {
    family: 40,
    name: "ptrace: seize",
    attack: (w) => ["ptrace_seize", w.victim],
    control: false,
    expect: refused("EPERM"),
  },
  {
    family: 40,
    name: "read its memory",
    attack: (w) => ["process_vm_readv", w.victim],
    expect: refused("EPERM"),
  },
  {
    family: 40,
    name: "write its memory",
    attack: (w) => ["process_vm_writev", w.victim],
    control: false,
    expect: refused("EPERM"),
  },
  {
    family: 40,
    name: "take its descriptors",
    attack: (w) => ["pidfd_getfd", w.victim],
    expect: refused("EPERM"),
  },
  {
    family: 40,
    name: "change its limits",
    attack: (w) => ["prlimit", w.victim],
    control: false,
    expect: refused("EPERM"),
  },
  {
    family: 40,
    name: "change process 1's limits",
    attack: () => ["prlimit", 1],
    control: false,
    expect: refused("EPERM"),
  },
  { family: 40, name: "read its own limits", attack: () => ["prlimit_self"], expect: works() },
  { family: 40, name: "compare descriptors", attack: (w) => ["kcmp", w.victim], expect: refused("EPERM") },
  {
    family: 40,
    name: "ptrace with subprocess",
    attack: () => ["ptrace_me"],
    grants: () => ({ subprocess: true }),
    expect: refused("EPERM"),
  },
];

const kernel: AttackCase[] = [
  ...["add_key", "keyctl", "request_key", "bpf", "perf", "userfaultfd"].map((name): AttackCase => ({
    family: 41,
    name,
    attack: () => [name],
    expect: counted("other", "EPERM"),
  })),
  ...[
    ["TIOCSTI", TIOCSTI],
    ["TIOCLINUX", TIOCLINUX],
    ["TIOCSCTTY", TIOCSCTTY],
    ["TIOCSTI with a high half", TIOCSTI + HIGH],
    ["TIOCLINUX with a high half", TIOCLINUX + 7 * HIGH],
  ].map(([name, request]): AttackCase => ({
    family: 41,
    name: String(name),
    attack: () => ["ioctl", request ?? 0],
    expect: counted("other", "EPERM"),
  })),
  {
    family: 41,
    name: "clear the death signal",
    attack: () => ["clear_death_signal"],
    expect: refused("EPERM"),
  },
  {
    family: 41,
    name: "clear the death signal with subprocess",
    attack: () => ["clear_death_signal"],
    grants: () => ({ subprocess: true }),
    expect: refused("EPERM"),
  },
  {
    family: 41,
    name: "a call that does not exist yet",
    attack: () => ["syscall", 600],
    control: false,
    expect: refused("ENOSYS"),
  },
  {
    family: 41,
    name: "a call of the far future",
    attack: () => ["syscall", 5000],
    control: false,
    expect: refused("ENOSYS"),
  },
  {
    family: 41,
    name: "it has no capability",
    attack: () => ["capabilities"],
    expect: ({ answer, run }) => {
      works()({ answer, run } as Parameters<AttackCase["expect"]>[0]);
      if (answer?.result !== 0) throw new Error(`it has ${answer?.text}`);
    },
  },
];

export const kernelCases: AttackCase[] = [...signals, ...processes, ...kernel];
