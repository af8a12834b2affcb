import type { Audit } from "../audit/audit.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { StoreNotice } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";

/** Looks on at what a runtime does, for metrics. A runtime without one pays nothing. */
export interface Instrument {
  /** Put in the place of the log and of the store, which it hands everything on to. */
  audit(log: Audit): Audit;
  store(store: Store): Store;
  /** Events that will be missing in the log. */
  auditLost(count: number, reason: string): void;
  auditProblem(code: ErrorCode): void;
  storeNotice(kind: StoreNotice["kind"]): void;
}
