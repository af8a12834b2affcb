import { allOp } from "./all.ts";
import type { Op } from "./op.ts";

/** As `all`, for each value of a payload field by itself. */
export function correlateByOp(inputs: number): Op {
  return allOp(inputs);
}
