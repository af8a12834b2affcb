import { AUDIT_GROUPS } from "./events.ts";

export type AuditGroup = (typeof AUDIT_GROUPS)[keyof typeof AUDIT_GROUPS];

/** The group of a type, or undefined for one that this version does not know. */
export function groupOf(type: string): AuditGroup | undefined {
  return isAuditType(type) ? AUDIT_GROUPS[type] : undefined;
}

export function isAuditType(type: string): type is keyof typeof AUDIT_GROUPS {
  return Object.hasOwn(AUDIT_GROUPS, type);
}
