import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Audit } from "../../src/audit/audit.ts";
import type { AuditData, AuditType } from "../../src/audit/events.ts";
import type { AUDIT_FIELDS } from "../../src/audit/fields.ts";

type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false;
type FieldsOf<T extends AuditType> = keyof (typeof AUDIT_FIELDS)[T]["fields"];
type Undocumented = {
  [T in AuditType]: Same<FieldsOf<T>, keyof AuditData[T]> extends true ? never : T;
}[AuditType];

describe("the table of audit events", () => {
  it("documents each field of each type, which the compiler checks", () => {
    const sameTypes: Same<keyof typeof AUDIT_FIELDS, AuditType> = true;
    const undocumented: Same<Undocumented, never> = true;
    assert.ok(sameTypes && undocumented);
  });

  it("lets no event be emitted with data of another type", () => {
    const emitted: string[] = [];
    const audit: Pick<Audit, "emit"> = { emit: (type) => void emitted.push(type) };
    audit.emit("session_halted", null, { reason: "x" });
    audit.emit("session_halted", null, () => ({ reason: "x" }));
    // @ts-expect-error a field that the type does not have
    audit.emit("session_halted", null, { text: "x" });
    // @ts-expect-error a type that the table does not have
    audit.emit("session_haltd", null, { reason: "x" });
    assert.equal(emitted.length, 4);
  });
});
