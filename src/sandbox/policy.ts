/** What a hook may do beyond the floor; each axis is closed unless it is opened. */
export interface Grants {
  /** May start processes; they are confined with it. */
  subprocess: boolean;
  /** May use IP sockets, to anywhere. Unix sockets stay closed. */
  network: boolean;
  /** Files and folders it may write, as the operator wrote them: absolute, `~/…`, or relative to the control folder. */
  writePaths: readonly string[];
}

export const FLOOR: Grants = { subprocess: false, network: false, writePaths: [] };

/** The whole of what confines one run. */
export interface SandboxPolicy {
  /** Absolute. Relative paths start here. */
  controlDir: string;
  /** Every folder that `~` stands for: $HOME and the account's own. Absolute. */
  homes: readonly string[];
  grants: Grants;
  /** Paths that are never readable nor writable, besides those of `deniedPaths`; written as `writePaths` are. */
  denyRead: readonly string[];
  /** Paths that are never writable, besides those of `readOnlyPaths`: the files of the hook's argv. */
  readOnly: readonly string[];
}

/** Bounds of one run. */
export interface RunLimits {
  /** Processes that may live at once with `subprocess`. Default 64. */
  processes: number;
  /** Captured stdout, in bytes. Default 1 MiB. */
  stdoutBytes: number;
  /** Kept end of stderr, in bytes. Default 8 KiB. */
  stderrBytes: number;
}

export const DEFAULT_LIMITS: RunLimits = { processes: 64, stdoutBytes: 1024 * 1024, stderrBytes: 8 * 1024 };
