/** What Seatbelt can be asked about, as far as our profiles and their checks name it. `*` marks a family. */
const KNOWN = new Set([
  "default",
  ...["appleevent-send", "distributed-notification-post", "dynamic-code-generation", "hid-control"],
  ...["file*", "file-chroot", "file-clone", "file-ioctl", "file-issue-extension", "file-link"],
  ...["file-map-executable", "file-mknod", "file-mount", "file-revoke", "file-search", "file-unmount"],
  ...["file-read*", "file-read-data", "file-read-metadata", "file-read-xattr"],
  ...["file-write*", "file-write-acl", "file-write-create", "file-write-data", "file-write-flags"],
  ...["file-write-mode", "file-write-owner", "file-write-setugid", "file-write-times", "file-write-unlink"],
  ...["file-write-xattr"],
  ...["generic-issue-extension", "iokit*", "iokit-get-properties", "iokit-open", "iokit-set-properties"],
  ...["ipc*", "ipc-posix*", "ipc-posix-sem*", "ipc-posix-shm*", "ipc-sysv*", "ipc-sysv-shm"],
  ...["job-creation", "lsopen", "mach*", "mach-host*", "mach-issue-extension", "mach-lookup"],
  ...["mach-priv*", "mach-priv-host-port", "mach-priv-task-port", "mach-register", "mach-task-name"],
  ...["network*", "network-bind", "network-inbound", "network-outbound", "nvram*", "nvram-get", "nvram-set"],
  ...["process*", "process-exec*", "process-exec", "process-exec-interpreter", "process-fork"],
  ...["process-info*", "process-info-listpids", "process-info-pidinfo", "process-info-setcontrol"],
  ...["pseudo-tty", "signal", "socket-ioctl", "sysctl*", "sysctl-read", "sysctl-write"],
  ...["system*", "system-fsctl", "system-info", "system-kext*", "system-kext-load", "system-privilege"],
  ...["system-socket", "user-preference*", "user-preference-read", "user-preference-write"],
]);

const FAMILIES = new Map([...KNOWN].map((name) => [name, familiesOf(name)]));

/** Every kind of reading. A denial names the family and each member, so that no rule about one member outranks it. */
export const READS = ["file-read*", "file-read-data", "file-read-metadata", "file-read-xattr"] as const;

/** Every kind of writing. Hard links are apart: they are never allowed. */
export const WRITES = [
  "file-write*",
  "file-write-acl",
  "file-write-create",
  "file-write-data",
  "file-write-flags",
  "file-write-mode",
  "file-write-owner",
  "file-write-setugid",
  "file-write-times",
  "file-write-unlink",
  "file-write-xattr",
] as const;

/** Kinds of writing that no grant covers. */
export const NEVER_WRITTEN = [
  "file-link",
  "file-write-acl",
  "file-write-flags",
  "file-write-owner",
  "file-write-setugid",
  "file-write-xattr",
] as const;

export const EXECUTIONS = ["process-exec*", "process-exec", "file-map-executable"] as const;

export const NETWORK = ["network*", "network-bind", "network-inbound", "network-outbound"] as const;

export function isKnownOperation(name: string): boolean {
  return KNOWN.has(name);
}

/** The names under which an operation is decided, the narrowest first: itself, its families, the default. */
export function namesOf(operation: string): readonly string[] {
  const known = FAMILIES.get(operation);
  return known ?? familiesOf(operation);
}

function familiesOf(operation: string): string[] {
  const names = [operation];
  let stem = operation.replace(/\*$/, "");
  while (stem !== "") {
    const family = `${stem}*`;
    if (KNOWN.has(family) && family !== operation) names.push(family);
    stem = stem.slice(0, Math.max(0, stem.lastIndexOf("-")));
  }
  return [...names, "default"];
}

/** Families that denials have to name whole: the family for members that are not known here, and each member. */
export const WHOLE_FAMILIES: readonly { family: string; members: readonly string[] }[] = [
  ...[READS, WRITES, NETWORK].map(([family, ...members]) => ({ family, members })),
  { family: "process-exec*", members: ["process-exec"] },
];
