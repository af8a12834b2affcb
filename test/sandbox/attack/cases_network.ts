import { type AttackCase, both, counted, fails, refused, works } from "./attack_case.ts";

const network = () => ({ network: true });
const STREAM = 1;
const DGRAM = 2;
const RAW = 3;
const SEQPACKET = 5;

/** Families of sockets: name, family, type, protocol. */
const KINDS: [string, number, number, number][] = [
  ["TCP", 2, STREAM, 0],
  ["UDP", 2, DGRAM, 0],
  ["TCP over IPv6", 10, STREAM, 0],
  ["UDP over IPv6", 10, DGRAM, 0],
  ["raw IP", 2, RAW, 1],
  ["ping", 2, DGRAM, 1],
  ["MPTCP", 2, STREAM, 262],
  ["SCTP", 2, STREAM, 132],
  ["netlink route", 16, RAW, 0],
  ["netlink audit", 16, RAW, 9],
  ["netlink kobject", 16, RAW, 15],
  ["packet", 17, RAW, 0x300],
  ["vsock", 40, STREAM, 0],
  ["crypto", 38, SEQPACKET, 0],
  ["Bluetooth", 31, RAW, 1],
  ["XDP", 44, RAW, 0],
  ["key management", 15, RAW, 2],
  ["CAN", 29, RAW, 1],
  ["TIPC", 30, STREAM, 0],
  ["Unix stream", 1, STREAM, 0],
  ["Unix datagram", 1, DGRAM, 0],
];

const kindOf = (family: number) => family === 2 || family === 10 ? "inet" : family === 1 ? "unix" : "socket";

const floor: AttackCase[] = [
  ...KINDS.map(([name, family, type, protocol]): AttackCase => ({
    family: family === 1 ? 14 : 11,
    name: `a socket: ${name}`,
    attack: () => ["socket", family, type, protocol],
    expect: counted(kindOf(family), "EACCES"),
  })),
  {
    family: 11,
    name: "a socket with garbage in the high half",
    attack: () => ["socket", "0x100000002", STREAM, 0],
    expect: counted("inet", "EACCES"),
  },
  { family: 12, name: "connect", attack: (w) => ["connect_tcp", w.port], expect: counted("inet", "EACCES") },
  { family: 12, name: "sendto", attack: () => ["send_udp", 9], expect: counted("inet", "EACCES") },
  { family: 12, name: "bind", attack: () => ["bind_tcp", 0], expect: counted("inet", "EACCES") },
  { family: 12, name: "connect on stdin", attack: () => ["connect_own"], expect: refused("EACCES") },
  {
    family: 13,
    name: "bash: /dev/tcp",
    program: (w) => ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${w.port} && cat <&3`],
    expect: fails("inet"),
  },
  {
    family: 13,
    name: "curl",
    program: (w) => ["curl", "-sS", "-m", "3", "--http0.9", `http://127.0.0.1:${w.port}/`],
    expect: fails("inet"),
  },
  {
    family: 13,
    name: "python",
    program: (w) => ["python3", "-c", `import socket\nsocket.create_connection(('127.0.0.1',${w.port}))`],
    expect: fails("inet"),
  },
  {
    family: 13,
    name: "node",
    program: (w) => [
      "node",
      "-e",
      `require('net').connect(${w.port},'127.0.0.1',()=>process.exit(0)).on('error',()=>process.exit(4))`,
    ],
    expect: fails("inet"),
  },
  {
    family: 13,
    name: "perl",
    program: (
      w,
    ) => ["perl", "-e", `use IO::Socket::INET; IO::Socket::INET->new("127.0.0.1:${w.port}") or exit 4`],
    expect: fails("inet"),
  },
  {
    family: 14,
    name: "a Unix socket by path",
    attack: (w) => ["connect_unix", w.unixSocket],
    expect: counted("unix", "EACCES"),
  },
  {
    family: 14,
    name: "an abstract Unix socket",
    attack: () => ["connect_unix", "@x"],
    expect: counted("unix", "EACCES"),
  },
];

const pairs: AttackCase[] = [
  {
    family: 15,
    name: "a pair of datagrams",
    attack: () => ["socketpair", 1, DGRAM],
    expect: counted("unix", "EACCES"),
  },
  { family: 15, name: "a raw pair", attack: () => ["socketpair", 1, RAW], expect: counted("unix", "EACCES") },
  {
    family: 15,
    name: "a pair that is not Unix",
    attack: () => ["socketpair", 30, STREAM],
    expect: refused("EACCES"),
  },
  { family: 15, name: "a pair of streams", attack: () => ["socketpair", 1, STREAM], expect: works() },
  {
    family: 15,
    name: "a pair of packet streams",
    attack: () => ["socketpair", 1, SEQPACKET],
    expect: works(),
  },
  ...[STREAM, SEQPACKET].flatMap((type): AttackCase[] => [
    {
      family: 15,
      name: `a pair sent elsewhere, type ${type}`,
      attack: (w) => ["readdress", type, w.unixSocket],
      expect: refused("EISCONN", "EOPNOTSUPP", "EINVAL"),
    },
    {
      family: 15,
      name: `a pair connected elsewhere, type ${type}`,
      attack: (w) => ["reconnect", type, w.unixSocket],
      expect: refused("EACCES"),
    },
    {
      family: 15,
      name: `a pair connected elsewhere, type ${type}, with network`,
      attack: (w) => ["reconnect", type, w.unixSocket],
      grants: network,
      expect: refused("EISCONN", "EINVAL", "EPROTOTYPE", "EACCES"),
    },
  ]),
];

const rings: AttackCase[] = ["setup", "enter", "register"].map((call) => ({
  family: 16,
  name: `io_uring_${call}`,
  attack: () => [`io_uring_${call}`],
  expect: refused("ENOSYS"),
}));

const lifted: AttackCase[] = [
  { family: 17, name: "TCP works", attack: (w) => ["connect_tcp", w.port], grants: network, expect: works() },
  { family: 17, name: "UDP works", attack: () => ["send_udp", 9], grants: network, expect: works() },
  { family: 17, name: "listening works", attack: () => ["bind_tcp", 0], grants: network, expect: works() },
  {
    family: 17,
    name: "the routing family works",
    attack: () => ["socket", 16, RAW, 0],
    grants: network,
    expect: works(),
  },
  {
    family: 17,
    name: "curl works",
    program: (w) => ["curl", "-sS", "-m", "3", "--http0.9", `http://127.0.0.1:${w.port}/`],
    grants: network,
    expect: works("hello"),
  },
  ...KINDS.filter(([name, family]) => ![2, 10].includes(family) && name !== "netlink route").map(
    ([name, family, type, protocol]): AttackCase => ({
      family: family === 1 ? 14 : 17,
      name: `a socket with network: ${name}`,
      attack: () => ["socket", family, type, protocol],
      grants: network,
      expect: both(refused("EACCES"), counted(kindOf(family), "EACCES")),
    }),
  ),
  {
    family: 17,
    name: "raw IP needs a capability",
    attack: () => ["socket", 2, RAW, 1],
    grants: network,
    expect: refused("EPERM", "EACCES"),
  },
  {
    family: 14,
    name: "a Unix socket by path, with network",
    attack: (w) => ["connect_unix", w.unixSocket],
    grants: network,
    expect: counted("unix", "EACCES"),
  },
  {
    family: 17,
    name: "network opens no file",
    attack: (w) => ["read", `${w.home}/.ssh/id_rsa`],
    grants: network,
    expect: refused("EACCES"),
  },
  {
    family: 17,
    name: "network makes no process",
    attack: () => ["fork"],
    grants: network,
    expect: counted("fork", "EPERM"),
  },
];

export const networkCases: AttackCase[] = [...floor, ...pairs, ...rings, ...lifted];
