export const DAY_MS = 86_400_000;

/** `YYYY-MM-DD`, UTC. */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** One file of the events folder: the UTC day its events happened on, who wrote it, and which part of the day. */
export interface AuditFileName {
  day: string;
  pid: number;
  /** 1 for `<day>-<pid>.jsonl`, N for `<day>-<pid>.<N>.jsonl`. */
  part: number;
}

const FILE_NAME = /^(\d{4}-\d{2}-\d{2})-(\d+)(?:\.(\d+))?\.jsonl$/;

export function auditFileName({ day, pid, part }: AuditFileName): string {
  return part === 1 ? `${day}-${pid}.jsonl` : `${day}-${pid}.${part}.jsonl`;
}

export function parseAuditFileName(name: string): AuditFileName | null {
  const match = FILE_NAME.exec(name);
  if (!match?.[1] || Number.isNaN(Date.parse(match[1]))) return null;
  return { day: match[1], pid: Number(match[2]), part: match[3] === undefined ? 1 : Number(match[3]) };
}

export function compareAuditFiles(a: AuditFileName, b: AuditFileName): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  return a.pid - b.pid || a.part - b.part;
}
