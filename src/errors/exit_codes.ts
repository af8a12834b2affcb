/** Exit codes of every command; the table in `--help` is printed from here. */
export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 2,
  sandboxUnavailable: 5,
  alreadyRunning: 6,
  timeout: 124,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [string, string])[] = [
  ["0", "ok"],
  ["1", "findings, refusal, unreadable or invalid configuration, failed turn"],
  ["2", "wrong use of the command line"],
  ["5", "sandbox unavailable"],
  ["6", "another reyn already runs on this state folder"],
  ["124", "timeout"],
  ["128+n", "ended by signal n"],
];
