import { decideSurely, type Decision, type Request } from "./decide.ts";
import { lintProfile } from "./lint.ts";
import { EXECUTIONS, NETWORK, NEVER_WRITTEN, READS, WRITES } from "./operations.ts";
import {
  type Confinement,
  guardedFolders,
  NAME_SERVICE_SOCKET,
  NETWORK_SERVICES,
  SERVICES,
} from "./profile.ts";
import { readForms, type Rule, rulesOf } from "./reader.ts";
import { spellings } from "./spellings.ts";

/** More are not told. */
const MOST_PROBLEMS = 5;
const SERVICES_NEVER = [
  "com.apple.SecurityServer",
  "com.apple.securityd.xpc",
  "com.apple.coreservices.launchservicesd",
  "com.apple.coreservices.appleevents",
  "com.apple.pasteboard.1",
  "com.apple.xpc.smd",
];
const NEVER = [
  ...["appleevent-send", "lsopen", "job-creation", "mach-register", "mach-priv-task-port", "iokit-open"],
  ...["file-chroot", "file-mount", "file-unmount", "process-info-setcontrol", "system-kext-load"],
  ...["sysctl-write", "nvram-set", "user-preference-write", "pseudo-tty", "file-clone", "ipc-sysv-shm"],
];
/** A name that nobody has, for what is somewhere in a folder. */
const SOME = "a-file-of-no-one";

type Expectation = [decision: Decision, request: Request];

/**
 * Reads a profile back and asks it about everything that its confinement says, in both weighings. Gives what is not so: nothing is
 * to run under such a profile.
 */
export function verifyProfile(text: string, confinement: Confinement): string[] {
  const problems = lintProfile(text).map(({ line, message }) => `line ${line}: ${message}`);
  if (problems.length > 0) return problems.slice(0, MOST_PROBLEMS);
  const read = readForms(text);
  if (!read.ok) return [read.reason];
  const rules = rulesOf(read.forms);
  for (const [wanted, request] of expectations(confinement)) {
    if (decideSurely(rules, request) === wanted) continue;
    const { operation, ...rest } = request;
    problems.push(`${operation} ${Object.values(rest).join(" ")} is not surely ${VERBS[wanted]}`);
    if (problems.length >= MOST_PROBLEMS) break;
  }
  return problems.length > 0 ? problems : missingDenials(rules, confinement);
}

const VERBS: Readonly<Record<Decision, string>> = { allow: "allowed", deny: "denied" };

/** The closed axes are denied by name as well, should the default ever not be enough. */
function missingDenials(rules: readonly Rule[], { subprocess, network }: Confinement): string[] {
  const isDenied = (operation: string) =>
    rules.some((rule) =>
      rule.action === "deny" && rule.operations.includes(operation) && rule.filters.length === 0
    );
  const wanted = [
    ...NEVER_WRITTEN,
    ...(subprocess ? [] : ["process-fork"]),
    ...(network ? [] : [...NETWORK, "system-socket"]),
  ];
  return wanted.filter((name) => !isDenied(name)).map((name) => `${name} is not denied by name`);
}

function* expectations(confinement: Confinement): Generator<Expectation> {
  yield* closed(confinement);
  yield* axes(confinement);
  yield* files(confinement);
}

function* closed({ writable }: Confinement): Generator<Expectation> {
  for (const operation of NEVER) yield ["deny", { operation, path: `/${SOME}` }];
  for (const name of SERVICES_NEVER) yield ["deny", { operation: "mach-lookup", name }];
  for (const operation of ["signal", "process-info-pidinfo"]) {
    yield ["allow", { operation, target: "self" }];
    yield ["deny", { operation, target: "others" }];
  }
  yield ["deny", { operation: "sysctl-read", name: "kern.procargs2" }];
  yield ["allow", { operation: "sysctl-read", name: "hw.ncpu" }];
  for (const file of ["/bin/sh", `/opt/${SOME}`]) {
    yield ["allow", { operation: "process-exec", path: file }];
    yield ["allow", { operation: "file-map-executable", path: file }];
    for (const operation of concrete(READS)) yield ["allow", { operation, path: file }];
    if (writable.some((folder) => isIn(file, folder))) continue;
    for (const operation of concrete(WRITES)) yield ["deny", { operation, path: file }];
  }
  for (const name of SERVICES) yield ["allow", { operation: "mach-lookup", name }];
  for (const name of ["disk0", "rdisk1", "tty", "bpf0", "mem"]) {
    yield ["deny", { operation: "file-read-data", path: `/dev/${name}` }];
    for (const operation of concrete(WRITES)) yield ["deny", { operation, path: `/dev/${name}` }];
  }
  for (const name of ["null", "zero", "urandom", "fd/63"]) {
    yield ["allow", { operation: "file-read-data", path: `/dev/${name}` }];
  }
  for (const name of ["null", "stderr", "fd/2"]) {
    yield ["allow", { operation: "file-write-data", path: `/dev/${name}` }];
  }
}

function* axes({ subprocess, network }: Confinement): Generator<Expectation> {
  const lifted = (open: boolean): Decision => open ? "allow" : "deny";
  yield [lifted(subprocess), { operation: "process-fork" }];
  yield [lifted(subprocess), { operation: "signal", target: "same-sandbox" }];
  for (const operation of concrete(NETWORK)) {
    yield [lifted(network), { operation, socket: "ip" }];
    for (const path of ["/private/var/run/docker.sock", `/private/tmp/${SOME}`]) {
      yield ["deny", { operation, socket: "unix-socket", path }];
    }
  }
  const names = { operation: "network-outbound", socket: "unix-socket", path: NAME_SERVICE_SOCKET } as const;
  yield [lifted(network), names];
  yield ["deny", { operation: "system-socket", domain: "AF_SYSTEM" }];
  yield [lifted(network), { operation: "system-socket", domain: "AF_ROUTE" }];
  yield [lifted(network), { operation: "sysctl-read", name: "net.routetable" }];
  for (const name of NETWORK_SERVICES) yield [lifted(network), { operation: "mach-lookup", name }];
}

function* files({ denied, readOnly, writable }: Confinement): Generator<Expectation> {
  const deniedAll = denied.flatMap(spellings);
  const readOnlyAll = readOnly.flatMap(spellings);
  const above = guardedFolders(denied, readOnly);
  for (const file of deniedAll.flatMap(withContent)) {
    for (const operation of [...concrete(READS), ...concrete(WRITES), ...concrete(EXECUTIONS)]) {
      yield ["deny", { operation, path: file }];
    }
  }
  for (const file of readOnlyAll.flatMap(withContent)) {
    for (const operation of concrete(WRITES)) yield ["deny", { operation, path: file }];
    if (!isInAny(file, deniedAll)) yield ["allow", { operation: "file-read-data", path: file }];
  }
  for (const folder of above) {
    for (const operation of concrete(WRITES)) yield ["deny", { operation, path: folder }];
    for (const operation of ["file-write-create", "file-write-unlink"]) {
      yield ["deny", { operation, path: inside(folder) }];
    }
  }
  for (const folder of writable.flatMap(spellings)) {
    const content = inside(inside(folder));
    if (isInAny(content, [...deniedAll, ...readOnlyAll])) continue;
    for (const operation of ["create", "data", "unlink", "mode", "times"]) {
      yield ["allow", { operation: `file-write-${operation}`, path: content }];
    }
  }
}

function withContent(file: string): string[] {
  return [file, inside(file)];
}

function inside(folder: string): string {
  return folder === "/" ? `/${SOME}` : `${folder}/${SOME}`;
}

function isIn(file: string, folder: string): boolean {
  return folder === "/" || file === folder || file.startsWith(`${folder}/`);
}

function isInAny(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isIn(file, folder));
}

function concrete(operations: readonly string[]): string[] {
  return operations.filter((name) => !name.endsWith("*"));
}
