import { ReynError } from "../errors/reyn_error.ts";

export interface UnitOptions {
  /** Absolute. */
  binary: string;
  controlDir: string;
  /** The account that the service runs as; undefined leaves it to the manager. */
  user: string | undefined;
  /** `shutdown_grace`. */
  graceMs: number;
}

const WATCHDOG_SECONDS = 30;
/** What systemd waits for beyond the grace before it kills. */
const LEEWAY_SECONDS = 10;

/**
 * A systemd unit that runs `reyn serve`. Throws E_USAGE for a path that no unit can hold.
 *
 * What is left out is left out on purpose: MemoryDenyWriteExecute (the runtime compiles code while it runs), SystemCallFilter and
 * RestrictAddressFamilies (they would reach into hooks, which have filters of their own), ProtectHome and ProtectSystem=strict
 * (where hooks may write is for their `write_paths` to say).
 */
export function serviceUnit({ binary, controlDir, user, graceMs }: UnitOptions): string {
  if (/["'\\]/.test(binary)) throw unfit("quotes or \\ in the path of the binary");
  const stopSeconds = Math.ceil(graceMs / 1000) + LEEWAY_SECONDS;
  const hidden = [binary, controlDir].some((path) => /^\/(var\/)?tmp(\/|$)/.test(path));
  return [
    "[Unit]",
    `Description=reyn in ${specifier(controlDir)}`,
    "Wants=network-online.target",
    "After=network-online.target",
    "StartLimitIntervalSec=300",
    "StartLimitBurst=5",
    "",
    "[Service]",
    "# Ready when it listens and sessions that were left with something to do have been started.",
    "Type=notify",
    "NotifyAccess=main",
    `ExecStart=:${quoted(binary)} -C ${quoted(controlDir)} serve`,
    `WorkingDirectory=${specifier(controlDir)}`,
    ...(user === undefined ? [] : [`User=${specifier(user)}`]),
    `WatchdogSec=${WATCHDOG_SECONDS}`,
    "# 128 + SIGTERM is an orderly stop.",
    "SuccessExitStatus=143",
    "Restart=on-failure",
    "RestartSec=2",
    "# A configuration that is wrong, or a store that was set aside, is for a person to look at.",
    "RestartPreventExitStatus=1 2 6",
    "# Only reyn is asked to stop; it ends what it has started.",
    "KillMode=mixed",
    `TimeoutStopSec=${stopSeconds}`,
    "UMask=0077",
    "LimitNOFILE=65536",
    "# Tokens of `server.tokens` and keys of models, one NAME=value a line, in a file of mode 0600:",
    "#EnvironmentFile=/etc/reyn.env",
    "",
    "NoNewPrivileges=yes",
    "ProtectSystem=full",
    ...(hidden ? [] : ["PrivateTmp=yes"]),
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** A word of a command line. Variables need no escape: the `:` before the program switches them off. */
function quoted(text: string): string {
  return `"${specifier(text).replace(/[\\"]/g, "\\$&")}"`;
}

/** A value that is taken as it stands, but for `%`. */
function specifier(text: string): string {
  if (
    Array.from(text).some((one) => one < " " || one === "\x7f") || text !== text.trim() || text.endsWith("\\")
  ) {
    throw unfit("control characters in a path, or white space or \\ at its end");
  }
  return text.replace(/%/g, "%%");
}

function unfit(what: string): ReynError {
  return new ReynError("E_USAGE", `a unit cannot hold ${what}`, {
    fix: "give the folder, or the binary, another name",
    exitCode: 2,
  });
}
