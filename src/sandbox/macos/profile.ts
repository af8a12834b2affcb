import { EXECUTIONS, NETWORK, NEVER_WRITTEN, READS, WRITES } from "./operations.ts";
import { directlyIn, foldersAbove, quoted, spellings } from "./spellings.ts";

/** What a profile says about one run. All paths are absolute, plain and speakable, each as written and with symlinks followed. */
export interface Confinement {
  subprocess: boolean;
  network: boolean;
  writable: readonly string[];
  /** Neither read nor written, whatever is writable. */
  denied: readonly string[];
  /** Read and never written, whatever is writable. */
  readOnly: readonly string[];
}

/** Files in /dev that may be read, and those that may be written; all others reach disks, terminals or the kernel. */
export const READABLE_DEVICES = ["null", "zero", "random", "urandom", "stdin", "stdout", "stderr"];
export const WRITABLE_DEVICES = ["null", "zero", "stdout", "stderr", "fd/1", "fd/2"];

/** Facts about the machine and the own process. Not kern.procargs2: it tells the environment of other processes. */
const SYSCTL_PREFIXES = ["hw.", "machdep.", "vm.", "kern.os", "kern.proc.pid.", "security.mac.lockdown"];
const SYSCTL_NAMES = [
  ...["kern.argmax", "kern.bootargs", "kern.boottime", "kern.clockrate", "kern.hostname", "kern.maxfiles"],
  ...["kern.maxfilesperproc", "kern.maxproc", "kern.ngroups", "kern.secure_kernel", "kern.tcsm_available"],
  ...["kern.usrstack64", "kern.version", "kern.willshutdown", "sysctl.proc_cputype"],
];

/** Who the user is. */
export const SERVICES = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.opendirectoryd.membership",
  "com.apple.system.notification_center",
];
/** With the network: its settings, and which certificates are trusted. */
export const NETWORK_SERVICES = [
  "com.apple.SystemConfiguration.configd",
  "com.apple.SystemConfiguration.DNSConfiguration",
  "com.apple.trustd.agent",
];
/** Names are looked up through this socket, the only Unix socket there is. */
export const NAME_SERVICE_SOCKET = "/private/var/run/mDNSResponder";

/**
 * The text of a Seatbelt profile. Everything that counts stands in it (no imports), closed by default; allowances first, then
 * denials, each under every name that the kernel may look for, so that a denial wins in whichever way rules are weighed.
 */
export function seatbeltProfile(confinement: Confinement): string {
  return [
    "(version 1)",
    "(deny default)",
    "",
    "; one program, in place, that reads",
    ...allowances(),
    ...lifted(confinement),
    "",
    "; from here on only denials",
    ...denials(confinement),
    "",
  ].join("\n");
}

function allowances(): string[] {
  return [
    rule("allow", ["process-exec*"]),
    rule("allow", ["file-read*"]),
    rule("allow", ["file-map-executable"]),
    rule("allow", ["file-write-data"], WRITABLE_DEVICES.map((name) => filter("literal", `/dev/${name}`))),
    rule("allow", ["sysctl-read"], [
      ...SYSCTL_PREFIXES.map((name) => filter("sysctl-name-prefix", name)),
      ...SYSCTL_NAMES.map((name) => filter("sysctl-name", name)),
    ]),
    rule("allow", ["mach-lookup"], SERVICES.map((name) => filter("global-name", name))),
  ];
}

function lifted({ subprocess, network, writable }: Confinement): string[] {
  const target = [`(target ${subprocess ? "same-sandbox" : "self"})`];
  const rules = [rule("allow", ["process-info*"], target), rule("allow", ["signal"], target)];
  if (subprocess) rules.push("", "; subprocess", rule("allow", ["process-fork"]));
  if (network) {
    rules.push(
      "",
      "; network",
      rule("allow", ["network-outbound"], [`(remote ip "*:*")`, filter("literal", NAME_SERVICE_SOCKET)]),
      rule("allow", ["network-bind", "network-inbound"], [`(local ip "*:*")`]),
      rule("allow", ["system-socket"], ["(socket-domain AF_ROUTE)"]),
      rule("allow", ["sysctl-read"], [filter("sysctl-name-prefix", "net.")]),
      rule("allow", ["mach-lookup"], NETWORK_SERVICES.map((name) => filter("global-name", name))),
    );
  }
  if (writable.length > 0) {
    rules.push("", "; write_paths", rule("allow", ["file-write*"], filters("subpath", writable)));
  }
  return rules;
}

function denials({ subprocess, network, denied, readOnly }: Confinement): string[] {
  const rules: string[] = [];
  if (!subprocess) rules.push(rule("deny", ["process-fork"]));
  if (!network) rules.push(rule("deny", NETWORK), rule("deny", ["system-socket"]));
  // A grant is for contents, modes and times.
  rules.push(
    rule("deny", NEVER_WRITTEN),
    rule("deny", READS, [devicesBut([...READABLE_DEVICES, ""], ["fd"])]),
    rule("deny", WRITES, [devicesBut(WRITABLE_DEVICES, [])]),
  );
  if (denied.length > 0) {
    const paths = filters("subpath", denied);
    for (const operations of [READS, WRITES, EXECUTIONS]) rules.push(rule("deny", operations, paths));
  }
  if (readOnly.length > 0) rules.push(rule("deny", WRITES, filters("subpath", readOnly)));
  // Else a folder above could be moved away with what is guarded in it, or something put where that will be.
  const above = guardedFolders(denied, readOnly);
  if (above.length > 0) {
    rules.push(
      rule("deny", WRITES, above.map((folder) => filter("literal", folder))),
      rule(
        "deny",
        ["file-write-create", "file-write-unlink"],
        above.map((folder) => filter("regex", directlyIn(folder))),
      ),
    );
  }
  return rules;
}

/** Every folder above something guarded that is not guarded itself, in all spellings, the root first. */
export function guardedFolders(denied: readonly string[], readOnly: readonly string[]): string[] {
  const guarded = new Set([...denied, ...readOnly].flatMap(spellings));
  const isGuarded = (folder: string) => [folder, ...foldersAbove(folder)].some((place) => guarded.has(place));
  const above = new Set([...guarded].flatMap(foldersAbove));
  return [...above].filter((folder) => !isGuarded(folder)).sort();
}

/** Of /dev itself the name is empty. */
function devicesBut(names: readonly string[], folders: readonly string[]): string {
  const others = [
    ...names.map((name) => filter("literal", name === "" ? "/dev" : `/dev/${name}`)),
    ...folders.map((name) => filter("subpath", `/dev/${name}`)),
  ];
  return `(require-all ${filter("subpath", "/dev")} ${
    others.map((other) => `(require-not ${other})`).join(" ")
  })`;
}

function filters(name: "subpath" | "literal", files: readonly string[]): string[] {
  return [...new Set(files.flatMap(spellings))].map((file) => filter(name, file));
}

function filter(name: string, text: string): string {
  return `(${name} ${quoted(text)})`;
}

function rule(action: "allow" | "deny", operations: readonly string[], conditions: string[] = []): string {
  const head = `(${action} ${operations.join(" ")}`;
  if (conditions.length === 0) return `${head})`;
  return conditions.length === 1 ? `${head} ${conditions[0]})` : `${head}\n  ${conditions.join("\n  ")})`;
}
