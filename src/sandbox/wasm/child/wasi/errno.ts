/** Errors of WASI preview 1. */
export const ERRNO = {
  success: 0,
  acces: 2,
  badf: 8,
  exist: 20,
  fault: 21,
  fbig: 22,
  ilseq: 25,
  inval: 28,
  io: 29,
  isdir: 31,
  loop: 32,
  mfile: 33,
  nametoolong: 37,
  noent: 44,
  nospc: 51,
  notdir: 54,
  notempty: 55,
  notsup: 58,
  perm: 63,
  rofs: 69,
  spipe: 70,
  xdev: 75,
  notcapable: 76,
} as const;
export type Errno = (typeof ERRNO)[keyof typeof ERRNO];

/** Thrown by the parts of WASI; the function that was called returns it. */
export class WasiError extends Error {
  constructor(readonly errno: Errno) {
    super(`errno ${errno}`);
  }
}

const FROM_SYSTEM: Readonly<Record<string, Errno>> = {
  EACCES: ERRNO.acces,
  EBADF: ERRNO.badf,
  EEXIST: ERRNO.exist,
  EFBIG: ERRNO.fbig,
  EINVAL: ERRNO.inval,
  EISDIR: ERRNO.isdir,
  ELOOP: ERRNO.loop,
  EMFILE: ERRNO.mfile,
  ENAMETOOLONG: ERRNO.nametoolong,
  ENOENT: ERRNO.noent,
  ENOSPC: ERRNO.nospc,
  ENOTDIR: ERRNO.notdir,
  ENOTEMPTY: ERRNO.notempty,
  EPERM: ERRNO.perm,
  EROFS: ERRNO.rofs,
  EXDEV: ERRNO.xdev,
};

/** What an error of the system is to a plugin. */
export function errnoOf(error: unknown): Errno {
  if (error instanceof WasiError) return error.errno;
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return FROM_SYSTEM[code] ?? ERRNO.io;
}
