import type { Composer } from "../composer.ts";
import { allOp } from "./all.ts";
import { anyOp } from "./any.ts";
import { correlateByOp } from "./correlate_by.ts";
import { countOp } from "./count.ts";
import { deadlineOp } from "./deadline.ts";
import { debounceOp } from "./debounce.ts";
import type { Op } from "./op.ts";
import { seqOp } from "./seq.ts";
import { windowOp } from "./window.ts";

export function opOf({ op, inputs, count }: Composer): Op {
  switch (op) {
    case "all":
      return allOp(inputs.length);
    case "any":
      return anyOp();
    case "seq":
      return seqOp(inputs.length);
    case "window":
      return windowOp();
    case "debounce":
      return debounceOp();
    case "correlate_by":
      return correlateByOp(inputs.length);
    case "count":
      return countOp(count ?? 1);
    case "deadline":
      return deadlineOp();
  }
}
