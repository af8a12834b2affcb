import type { Run } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import type { Value } from "./values.ts";

/** Arguments of a call by the order of the parameters; undefined where one is not given. */
export type Bound = readonly Value[];

/** A filter, test or function: what it takes and what it does. */
export interface Callable {
  /** Names of its parameters, in order, without the value it is applied to. */
  params: readonly string[];
  /** How many of them must be given. Default: none. */
  required?: number;
  /** Takes any further arguments, positional and named. */
  rest?: boolean;
  apply(run: Run, value: Value, args: Bound, rest: Rest): Value;
}

export interface Rest {
  positional: readonly Value[];
  named: ReadonlyMap<string, Value>;
}

const NO_REST: Rest = { positional: [], named: new Map() };

/** What is wrong with such a call, or null. */
export function callProblem(
  what: string,
  callable: Callable,
  positional: number,
  named: readonly string[],
): string | null {
  const { params, required = 0, rest } = callable;
  if (rest) return null;
  if (positional > params.length) return `${what} takes ${params.length} arguments at most`;
  const strange = named.find((name) => !params.includes(name));
  if (strange !== undefined) return `${what} has no parameter "${strange}"`;
  const twice = named.find((name, index) => params.indexOf(name) < positional || named.indexOf(name) < index);
  if (twice !== undefined) return `${what} is given "${twice}" twice`;
  const absent = params.slice(0, required).find((name, index) =>
    index >= positional && !named.includes(name)
  );
  return absent === undefined ? null : `${what} wants "${absent}"`;
}

/** Applies a callable whose call has been checked by `callProblem`. */
export function applyCallable(
  run: Run,
  callable: Callable,
  value: Value,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value> | null,
): Value {
  if (callable.rest) return callable.apply(run, value, [], { positional, named: named ?? NO_REST.named });
  if (!named || named.size === 0) return callable.apply(run, value, positional, NO_REST);
  const bound: Value[] = [...positional];
  for (const [name, each] of named) bound[callable.params.indexOf(name)] = each;
  return callable.apply(run, value, bound, NO_REST);
}

/** Applies a callable that a template names at run time (`map("upper")`). */
export function applyNamed(
  run: Run,
  what: string,
  table: ReadonlyMap<string, Callable>,
  name: Value,
  value: Value,
  rest: Rest,
): Value {
  const callable = typeof name === "string" ? table.get(name) : undefined;
  if (!callable) throw new RenderFault(`unknown ${what} ${JSON.stringify(name)}`);
  const problem = callProblem(`${what} "${String(name)}"`, callable, rest.positional.length, [
    ...rest.named.keys(),
  ]);
  if (problem) throw new RenderFault(problem);
  return applyCallable(run, callable, value, rest.positional, rest.named);
}
