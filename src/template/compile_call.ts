import { FUNCTIONS, Joiner } from "./builtins.ts";
import { type Compiler, type Evaluate, isLocal, lookup } from "./compiler.ts";
import { ALL_TESTS, FILTERS, REFUSED_FILTERS } from "./filters.ts";
import { callMethod, METHOD_NAMES } from "./methods.ts";
import { RenderFault, SourceFault, unknownName } from "./problem.ts";
import { applyCallable, type Callable, callProblem } from "./signature.ts";
import type { Arguments, Expression } from "./syntax.ts";
import { type Value } from "./values.ts";
import type { Run } from "./budget.ts";
import { truth } from "./truth.ts";

type Compile = (expression: Expression) => Evaluate;

/** A call of a function or of a method; nothing else can be called. */
export function compileCall(
  compiler: Compiler,
  call: Expression & { kind: "call" },
  compile: Compile,
): Evaluate {
  const { callee, at } = call;
  if (callee.kind === "attribute") {
    const { name } = callee;
    if (!METHOD_NAMES.has(name)) throw unknownName("method", name, METHOD_NAMES, callee.at);
    const object = compile(callee.object);
    const args = compileArguments(call.args, compile);
    return (run) => callMethod(run, object(run), name, args.positional(run), args.named(run));
  }
  if (callee.kind !== "name") throw new SourceFault("only functions and methods can be called", at);
  if (isLocal(compiler, callee.name)) return compileLocalCall(compiler, callee, call.args);
  const known = FUNCTIONS.get(callee.name);
  if (!known) throw unknownName("function", callee.name, FUNCTIONS.keys(), callee.at);
  return compileApply(`${callee.name}()`, known, () => undefined, call.args, callee.at, compile);
}

/** What a template assigned can be called if it is a joiner. */
function compileLocalCall(
  compiler: Compiler,
  callee: Expression & { kind: "name" },
  args: Arguments,
): Evaluate {
  const found = lookup(compiler, callee.name, callee.at, false);
  if (args.positional.length + args.named.length > 0) {
    throw new SourceFault(`"${callee.name}" is no function`, callee.at);
  }
  return (run) => {
    const value = found(run);
    if (!(value instanceof Joiner)) throw new RenderFault(`'${callee.name}' is not callable`);
    return value.call();
  };
}

export function compileFilter(
  compiler: Compiler,
  filter: Expression & { kind: "filter" },
  compile: Compile,
): Evaluate {
  const { name, at, operand, args } = filter;
  const known = FILTERS.get(name);
  if (!known) {
    const reason = REFUSED_FILTERS.get(name);
    if (reason !== undefined) {
      throw new SourceFault(`the filter "${name}" is not available: ${reason}`, at, name);
    }
    throw unknownName("filter", name, FILTERS.keys(), at);
  }
  checkNamedInside(name, args, at);
  const guards = name === "default" || name === "d";
  const wasRaw = compiler.raw;
  if (name === "tojson") compiler.raw = true;
  const value = guards && operand.kind === "name"
    ? lookup(compiler, operand.name, operand.at, true)
    : compile(operand);
  compiler.raw = wasRaw;
  return compileApply(`the filter "${name}"`, known, value, args, at, compile);
}

export function compileTest(
  compiler: Compiler,
  test: Expression & { kind: "test" },
  compile: Compile,
): Evaluate {
  const { name, at, operand, args, negated } = test;
  const known = ALL_TESTS.get(name);
  if (!known) throw unknownName("test", name, ALL_TESTS.keys(), at);
  const guards = (name === "defined" || name === "undefined") && operand.kind === "name";
  if (guards) compiler.tested.add(operand.name);
  const value = guards ? lookup(compiler, operand.name, operand.at, true) : compile(operand);
  const holds = compileApply(`the test "${name}"`, known, value, args, at, compile);
  return negated ? (run) => !truth(run, holds(run)) : holds;
}

/** Filters and tests that others are told by name: a constant one is checked like one that is written. */
function checkNamedInside(filter: string, args: Arguments, at: number): void {
  const byAttribute = filter === "selectattr" || filter === "rejectattr";
  const isMap = filter === "map";
  if (!isMap && !byAttribute && filter !== "select" && filter !== "reject") return;
  const inner = args.positional[byAttribute ? 1 : 0];
  if (inner?.kind !== "const" || typeof inner.value !== "string") return;
  const table = isMap ? FILTERS : ALL_TESTS;
  if (!table.has(inner.value)) throw unknownName(isMap ? "filter" : "test", inner.value, table.keys(), at);
}

function compileApply(
  what: string,
  callable: Callable,
  value: Evaluate,
  args: Arguments,
  at: number,
  compile: Compile,
): Evaluate {
  const problem = callProblem(what, callable, args.positional.length, args.named.map(([name]) => name));
  if (problem) throw new SourceFault(problem, at);
  const { positional, named } = compileArguments(args, compile);
  return (run) => applyCallable(run, callable, value(run), positional(run), named(run));
}

interface CompiledArguments {
  positional(run: Run): readonly Value[];
  named(run: Run): ReadonlyMap<string, Value> | null;
}

const NONE: readonly Value[] = [];

function compileArguments(args: Arguments, compile: Compile): CompiledArguments {
  const positional = args.positional.map(compile);
  const named = args.named.map(([name, value]): [string, Evaluate] => [name, compile(value)]);
  return {
    positional: positional.length === 0 ? () => NONE : (run) => positional.map((each) => each(run)),
    named: named.length === 0
      ? () => null
      : (run) => new Map(named.map(([name, value]) => [name, value(run)])),
  };
}
