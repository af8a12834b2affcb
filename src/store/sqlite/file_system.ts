import { existsSync, readFileSync, realpathSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { ReynError } from "../../errors/reyn_error.ts";

export interface FileSystemType {
  /** `f_type` of statfs(2), as Linux numbers them. */
  magic: number;
  /** Type of the mount as /proc/self/mountinfo names it: `ext4`, `fuse.sshfs`. */
  mountType?: string;
}

export type FileSystemProbe = (dir: string) => Promise<FileSystemType | undefined>;

const FUSE = 0x65735546;

/** File systems that another machine may write to, or whose locks and shared memory are not the kernel's own. */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9p"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0x20030528, "OrangeFS"],
  [0xaad7aaea, "PanFS"],
  [0x786f4256, "a VirtualBox shared folder"],
  [0xbacbacbc, "a VMware shared folder"],
  [0x7c7c6673, "a Parallels shared folder"],
]);

/** FUSE says nothing of where the bytes go; these types are known to stay on this machine. */
const LOCAL_FUSE: ReadonlySet<string> = new Set([
  "fuseblk",
  "virtiofs",
  "fuse.fuse-overlayfs",
  "fuse.mergerfs",
  "fuse.bindfs",
  "fuse.gocryptfs",
  "fuse.encfs",
  "fuse.cryfs",
  "fuse.ntfs-3g",
  "fuse.exfat",
]);

/** Name of the network file system, or nothing where the store may live. */
export function refusedFileSystem({ magic, mountType }: FileSystemType): string | undefined {
  const unsigned = magic >>> 0;
  if (unsigned !== FUSE) return REFUSED.get(unsigned);
  if (mountType !== undefined && LOCAL_FUSE.has(mountType)) return undefined;
  return mountType ?? "a FUSE file system of unknown type";
}

/** Throws E_STATE_FILESYSTEM where the folder, or the nearest one above it that exists, lies on a network file system. */
export async function checkFileSystem(dir: string, probe: FileSystemProbe = probeFileSystem): Promise<void> {
  let existing = dir;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const found = await probe(existing);
  const refused = found && refusedFileSystem(found);
  if (refused === undefined) return;
  throw new ReynError(
    "E_STATE_FILESYSTEM",
    `${dir} lies on ${refused}, where the store's locks are not safe`,
    {
      fix: "put the control folder, or its .reyn/state by a symbolic link, on a local disk",
    },
  );
}

/** Numbers are Linux's; elsewhere nothing is known and nothing refused. */
export const probeFileSystem: FileSystemProbe = async (dir) => {
  if (process.platform !== "linux") return undefined;
  const { type } = await statfs(dir);
  const magic = type >>> 0;
  return magic === FUSE ? { magic, ...mountTypeOf(realpathSync(dir)) } : { magic };
};

function mountTypeOf(path: string): { mountType?: string } {
  try {
    const mountType = mountTypeIn(readFileSync("/proc/self/mountinfo", "utf8"), path);
    return mountType === undefined ? {} : { mountType };
  } catch {
    return {};
  }
}

/** Type of the mount that `path` is on; of several at one place the last hides the others. */
export function mountTypeIn(mountinfo: string, path: string): string | undefined {
  let best: { point: string; type: string } | undefined;
  for (const line of mountinfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const point = unescapeOctal(left.split(" ")[4] ?? "");
    const type = right.split(" ")[0];
    if (!type || !contains(point, path) || (best && point.length < best.point.length)) continue;
    best = { point, type };
  }
  return best?.type;
}

function contains(point: string, path: string): boolean {
  return point === "/" || path === point || path.startsWith(`${point}/`);
}

function unescapeOctal(text: string): string {
  return text.replace(
    /\\([0-7]{3})/g,
    (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
