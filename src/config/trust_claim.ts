import type { Place } from "../errors/finding.ts";

/** A value of a project file that decides over more than the project, so that it needs the operator's trust. */
export interface TrustClaim {
  /** The file as findings show it. */
  file: string;
  /** In the operator's notation: `agents.a.model.command`. */
  key: string;
  place(): Place;
  /** As it stands in the file: variables are not put in. */
  value: unknown;
  /** Why, where the key alone does not say. */
  reasons: readonly string[];
  /** The argvs in it, whose program and files are code. */
  argvs: readonly (readonly string[])[];
  /** No trust helps: only the operator's own file may say this. */
  operatorOnly: boolean;
}

export type TrustVerdict =
  | { state: "trusted" }
  /** Nothing was recorded for this key. */
  | { state: "new" }
  /** `what`: each difference from what was trusted. */
  | { state: "changed"; since: string; what: readonly string[] }
  | { state: "operator_only" };

export type JudgedClaim = TrustClaim & { verdict: TrustVerdict };

/** Says how a claim stands to what the operator trusts. Never throws. */
export type JudgeTrust = (claim: TrustClaim) => TrustVerdict;
