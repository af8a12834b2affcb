import { type AttackCase, both, counted, fails, killedBy, refused, works } from "./attack_case.ts";

const subprocess = () => ({ subprocess: true });

/** Ways to become two, at the floor. */
const forks: AttackCase[] = [
  { family: 1, name: "fork", attack: () => ["fork"], expect: counted("fork", "EPERM") },
  { family: 1, name: "vfork", attack: () => ["vfork"], expect: counted("fork", "EPERM") },
  { family: 1, name: "clone", attack: () => ["clone", 0], expect: counted("fork", "EPERM") },
  {
    family: 1,
    name: "clone with a stack of its own",
    attack: () => ["clone_vm_vfork"],
    expect: counted("fork", "EPERM"),
  },
  {
    family: 1,
    name: "clone with garbage in the high half",
    attack: () => ["clone", "0xffffffff00000000"],
    expect: counted("fork", "EPERM"),
  },
  {
    family: 1,
    name: "clone into the parent's family",
    attack: () => ["clone", "0x8000"],
    expect: counted("fork", "EPERM"),
  },
  {
    family: 1,
    name: "posix_spawn",
    attack: () => ["posix_spawn", "/bin/true"],
    expect: counted("fork", "EPERM"),
  },
  { family: 2, name: "popen", attack: () => ["popen", "echo hi"], expect: fails("fork") },
  { family: 3, name: "clone3", attack: () => ["clone3"], expect: refused("ENOSYS") },
  { family: 4, name: "fork of the x32 table", attack: () => ["x32_fork"], expect: refused("ENOSYS") },
  { family: 5, name: "fork by int 0x80", attack: () => ["int80_fork"], expect: killedBy("SIGSYS") },
  { family: 5, name: "socket by int 0x80", attack: () => ["int80_socket"], expect: killedBy("SIGSYS") },
  {
    family: 6,
    name: "a fork bomb",
    attack: () => ["fork_bomb", 2000],
    control: false,
    expect: counted("fork", "EPERM"),
  },
  {
    family: 7,
    name: "fork from memory",
    attack: () => ["memfd_then", "fork"],
    expect: counted("fork", "EPERM"),
  },
  {
    family: 7,
    name: "clone from memory",
    attack: () => ["memfd_then", "clone"],
    expect: counted("fork", "EPERM"),
  },
];

const program = (
  family: number,
  name: string,
  argv: [string, ...string[]],
  expect: AttackCase["expect"],
) => ({
  family,
  name,
  program: () => argv,
  stdin: '{"point":"turn_end"}\n',
  expect,
} satisfies AttackCase);

const PYTHON_FORK = "import os\nos.fork()\nprint('forked')";
const NODE_SPAWN =
  "const r=require('child_process').spawnSync('/bin/true');if(r.error){console.error(String(r.error));process.exit(1)}";

const languages: AttackCase[] = [
  program(8, "bash: a substitution", ["bash", "-c", "x=$(/bin/true) || exit 9; echo done"], fails("fork")),
  program(8, "dash: a pipeline", ["dash", "-c", "echo hi | cat"], fails("fork")),
  program(8, "dash: a background job", ["dash", "-c", "/bin/true & exit 9"], fails("fork")),
  program(8, "python: os.fork", ["python3", "-c", PYTHON_FORK], fails("fork")),
  program(8, "python: subprocess", [
    "python3",
    "-c",
    "import subprocess\nsubprocess.run(['/bin/true'],check=True)",
  ], fails("fork")),
  program(8, "node: spawnSync", ["node", "-e", NODE_SPAWN], fails("fork")),
  program(8, "perl: system", ["perl", "-e", "system('/bin/true') == 0 or exit 3"], fails("fork")),
  program(
    8,
    "deno: Deno.Command",
    ["deno", "eval", "new Deno.Command('/bin/true').outputSync()"],
    fails("fork"),
  ),
  program(8, "java: ProcessBuilder", ["java", "-XX:-UsePerfData", "Main.java", "/bin/true"], fails("fork")),
  program(8, "bun: spawnSync", ["bun", "-e", "Bun.spawnSync(['/bin/true'])"], fails("fork")),

  { family: 9, name: "a thread", attack: () => ["thread"], expect: works() },
  program(9, "bash starts", ["bash", "-c", 'read -r line; echo "$line"'], works("turn_end")),
  program(9, "dash starts", ["dash", "-c", 'read -r line; echo "$line"'], works("turn_end")),
  program(9, "sh goes on as another program", ["dash", "-c", "exec cat"], works("turn_end")),
  program(9, "python starts, with threads", [
    "python3",
    "-c",
    "import sys,threading,json\nt=threading.Thread(target=lambda:print(json.load(sys.stdin)['point']))\nt.start();t.join()",
  ], works("turn_end")),
  program(9, "python: asyncio and ssl", [
    "python3",
    "-c",
    "import asyncio,ssl,sqlite3\nasync def f():\n await asyncio.sleep(0.01)\n print('slept')\nasyncio.run(f())",
  ], works("slept")),
  program(9, "node starts", ["node", "-e", "process.stdin.pipe(process.stdout)"], works("turn_end")),
  program(9, "node: a worker", [
    "node",
    "-e",
    "const {Worker}=require('worker_threads');new Worker('console.log(\"from a worker\")',{eval:true})",
  ], works("from a worker")),
  program(
    9,
    "deno starts",
    ["deno", "eval", "console.log(await new Response(Deno.stdin.readable).text())"],
    works("turn_end"),
  ),
  program(9, "bun starts", ["bun", "-e", "console.log(await Bun.stdin.text())"], works("turn_end")),
  program(9, "perl starts", ["perl", "-e", "print <STDIN>"], works("turn_end")),
  program(9, "java starts", ["java", "-XX:-UsePerfData", "Main.java"], works("turn_end")),
  program(9, "jq starts", ["jq", "-r", ".point"], works("turn_end")),
  {
    family: 9,
    name: "git log starts",
    program: (w) => ["git", "-C", w.repository, "log", "--oneline"],
    expect: works("the first commit"),
  },
  program(9, "curl starts", ["curl", "--version"], works("curl")),
  program(9, "sqlite3 starts", ["sqlite3", ":memory:", "select 'row ' || 7"], works("row 7")),
  program(9, "openssl starts", ["openssl", "dgst", "-sha256"], works("SHA2")),
  program(9, "python: a pair of sockets, and a lock", [
    "python3",
    "-c",
    "import socket,fcntl,os\na,b=socket.socketpair();a.send(b'x');print(b.recv(1))\nf=open('/etc/hostname');fcntl.flock(f,fcntl.LOCK_SH);print('locked')",
  ], works("locked")),
];

const NEW = {
  user: "0x10000000",
  mount: "0x20000",
  pid: "0x20000000",
  net: "0x40000000",
  ipc: "0x8000000",
  uts: "0x4000000",
  cgroup: "0x2000000",
};

const namespaces: AttackCase[] = [
  ...Object.entries(NEW).flatMap(([name, flag]): AttackCase[] => [
    {
      family: 10,
      name: `clone: a new ${name} namespace`,
      attack: () => ["clone", flag],
      expect: refused("EPERM"),
    },
    {
      family: 10,
      name: `unshare: a new ${name} namespace`,
      attack: () => ["unshare", flag],
      expect: refused("EPERM"),
    },
  ]),
  {
    family: 10,
    name: "clone: a new user namespace, with subprocess",
    attack: () => ["clone", NEW.user],
    grants: subprocess,
    expect: refused("EPERM"),
  },
  {
    family: 10,
    name: "unshare, with subprocess",
    attack: () => ["unshare", NEW.user],
    grants: subprocess,
    expect: refused("EPERM"),
  },
  {
    family: 10,
    name: "setns",
    attack: () => ["setns", "/proc/self/ns/uts"],
    expect: refused("EPERM", "EACCES"),
  },
  {
    family: 10,
    name: "mount",
    attack: (w) => ["mount", w.outside],
    control: false,
    expect: refused("EPERM"),
  },
  {
    family: 10,
    name: "a bind mount",
    attack: (w) => ["bind_mount", w.home, w.outside],
    control: false,
    expect: refused("EPERM"),
  },
  {
    family: 10,
    name: "umount",
    attack: () => ["umount", "/dev/shm"],
    control: false,
    expect: refused("EPERM"),
  },
  { family: 10, name: "chroot", attack: (w) => ["chroot", w.root], expect: refused("EPERM") },
  { family: 10, name: "open_tree", attack: (w) => ["open_tree", w.root], expect: refused("EPERM") },
  { family: 10, name: "fsopen", attack: () => ["fsopen", "tmpfs"], expect: refused("EPERM") },
];

const children: AttackCase[] = [
  {
    family: 42,
    name: "children start",
    program: () => ["bash", "-c", "x=$(echo one | cat); echo $x | tr o 0"],
    grants: subprocess,
    expect: works("0ne"),
  },
  {
    family: 42,
    name: "a child of node has its streams",
    program: () => [
      "node",
      "-e",
      "const r=require('child_process').spawnSync('/bin/cat',{input:'through'});console.log(String(r.stdout))",
    ],
    grants: subprocess,
    expect: works("through"),
  },
  {
    family: 42,
    name: "a child reads no secret",
    program: (
      w,
    ) => ["bash", "-c", `(cat ${w.home}/.ssh/id_rsa); cat ${w.home}/.ssh/id_rsa | cat; exit $?$PIPESTATUS`],
    grants: subprocess,
    expect: fails(),
  },
  {
    family: 42,
    name: "a child writes nothing",
    program: (w) => ["bash", "-c", `(echo x > ${w.outside}/new) || exit 5`],
    grants: subprocess,
    expect: fails(),
  },
  {
    family: 42,
    name: "a child reaches no network",
    program: (w) => ["bash", "-c", `(exec 3<>/dev/tcp/127.0.0.1/${w.port}) || exit 5`],
    grants: subprocess,
    expect: fails("inet"),
  },
  {
    family: 42,
    name: "a child signals nobody outside",
    program: (w) => ["bash", "-c", `(kill -0 ${w.victim}) || exit 5`],
    grants: subprocess,
    expect: fails(),
  },
  {
    family: 42,
    name: "a child is signalled",
    attack: () => ["kill_own_child"],
    grants: subprocess,
    expect: works(),
  },
  {
    family: 42,
    name: "clone3 stays absent",
    attack: () => ["clone3"],
    grants: subprocess,
    expect: refused("ENOSYS"),
  },
  {
    family: 42,
    name: "no more processes than the budget",
    attack: () => ["fork_bomb", 200],
    grants: subprocess,
    control: false,
    expect: both(works(), ({ run, answer }) => {
      const made = answer?.result ?? -1;
      if (made < 1 || made > 63) throw new Error(`${made} processes were made`);
      if ((run.denied?.forkBudget ?? 0) < 100) throw new Error("the rest was not counted");
    }),
  },
];

export const processCases: AttackCase[] = [...forks, ...languages, ...namespaces, ...children];
