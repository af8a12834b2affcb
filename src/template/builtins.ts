import { MAX_COUNT, type Run, spendItems } from "./budget.ts";
import { equal } from "./compare.ts";
import { dictFrom } from "./methods.ts";
import { integer } from "./arguments.ts";
import { RenderFault } from "./problem.ts";
import type { Callable } from "./signature.ts";
import { Builtin, Namespace, Sequence, type Value } from "./values.ts";

/** Functions that a template can call by name. */
export const FUNCTIONS: ReadonlyMap<string, Callable> = new Map(Object.entries({
  range: { params: ["start", "stop", "step"], required: 1, apply: (run, _value, args) => range(run, args) },
  dict: {
    params: [],
    rest: true,
    apply: (run, _value, _args, rest) => dictFrom(run, rest.positional[0], rest.named),
  },
  namespace: {
    params: [],
    rest: true,
    apply: (run, _value, _args, rest) => {
      const made = new Namespace();
      for (const [key, value] of dictFrom(run, rest.positional[0], rest.named).entries.values()) {
        made.fields.set(String(key), value);
      }
      return made;
    },
  },
  cycler: { params: [], rest: true, apply: (_run, _value, _args, rest) => new Cycler(rest.positional) },
  joiner: { params: ["sep"], apply: (_run, _value, [sep]) => new Joiner(sep ?? ", ") },
}));

function range(run: Run, args: readonly Value[]): Sequence {
  const only = args[1] === undefined;
  const start = only ? 0 : integer(args[0], 0, "start");
  const stop = only ? integer(args[0], 0, "stop") : integer(args[1], 0, "stop");
  const step = integer(args[2], 1, "step");
  if (step === 0) throw new RenderFault("range() arg 3 must not be zero");
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > MAX_COUNT) throw new RenderFault(`range() is longer than ${MAX_COUNT}`);
  spendItems(run, length);
  const shown = `range(${start}, ${stop}${step === 1 ? "" : `, ${step}`})`;
  return new Sequence("range", Array.from({ length }, (_, index) => start + index * step), shown);
}

class Cycler extends Builtin {
  readonly typeName = "Cycler";
  private at = 0;
  private readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) throw new RenderFault("at least one item has to be provided");
    this.items = items;
  }

  field(name: string): Value {
    return name === "current" ? this.items[this.at] : undefined;
  }

  method(name: string) {
    if (name === "next") {
      return () => {
        const current = this.items[this.at];
        this.at = (this.at + 1) % this.items.length;
        return current;
      };
    }
    if (name !== "reset") return undefined;
    return () => {
      this.at = 0;
      return null;
    };
  }
}

/** Gives nothing when called first, its separator from then on. */
export class Joiner extends Builtin {
  readonly typeName = "Joiner";
  private used = false;
  private readonly separator: Value;

  constructor(separator: Value) {
    super();
    this.separator = separator;
  }

  field(): Value {
    return undefined;
  }

  method(): undefined {
    return undefined;
  }

  call(): Value {
    const first = !this.used;
    this.used = true;
    return first ? "" : this.separator;
  }
}

/** `loop` inside of a `for`. */
export class LoopState extends Builtin {
  readonly typeName = "LoopContext";
  index0 = 0;
  private readonly run: Run;
  private readonly items: readonly Value[];
  private last: Value = undefined;

  constructor(run: Run, items: readonly Value[]) {
    super();
    this.run = run;
    this.items = items;
  }

  field(name: string): Value {
    const { index0, items } = this;
    switch (name) {
      case "index":
        return index0 + 1;
      case "index0":
        return index0;
      case "revindex":
        return items.length - index0;
      case "revindex0":
        return items.length - index0 - 1;
      case "first":
        return index0 === 0;
      case "last":
        return index0 === items.length - 1;
      case "length":
        return items.length;
      case "depth":
        return 1;
      case "depth0":
        return 0;
      case "previtem":
        return items[index0 - 1];
      case "nextitem":
        return items[index0 + 1];
      default:
        return undefined;
    }
  }

  method(name: string) {
    if (name === "cycle") {
      return (args: readonly Value[]) => {
        if (args.length === 0) throw new RenderFault("no items for cycling given");
        return args[this.index0 % args.length];
      };
    }
    if (name !== "changed") return undefined;
    return (args: readonly Value[]) => {
      const value = new Sequence("tuple", args);
      const changed = this.last === undefined || !equal(this.run, this.last, value);
      this.last = value;
      return changed;
    };
  }
}
