import type { Run } from "./budget.ts";
import { escapeDeep } from "./escape.ts";
import { SourceFault } from "./problem.ts";
import { MAX_NESTING, type Statement } from "./syntax.ts";
import { Undefined, type Value } from "./values.ts";

export type Evaluate = (run: Run) => Value;
export type Execute = (run: Run) => void;

/** Names that a block assigned, and where their values lie. */
export interface Scope {
  slots: Map<string, number>;
  /** Whether something asks for `loop`, where this is the scope of a loop. */
  usesLoop: boolean;
}

/** What is known while one template is compiled. */
export interface Compiler {
  /** Escape texts from outside. */
  escape: boolean;
  /** Inside of what `tojson` gets, which escapes by itself. */
  raw: boolean;
  /** Innermost last. */
  scopes: Scope[];
  slotCount: number;
  /** Nodes compiled so far: what a loop's body costs per turn is how many are compiled for it. */
  nodes: number;
  depth: number;
  /** Names looked up outside of the template, with where first; unguarded ones must exist at a point that is known. */
  variables: Set<string>;
  unguarded: Map<string, number>;
  /** Names that the template asks `is defined` of. */
  tested: Set<string>;
}

export function newCompiler(escape: boolean): Compiler {
  return {
    escape,
    raw: false,
    scopes: [],
    slotCount: 0,
    nodes: 0,
    depth: 0,
    variables: new Set(),
    unguarded: new Map(),
    tested: new Set(),
  };
}

/** Counts a node and compiles what is in it, unless that lies too deep. */
export function nested<T>(compiler: Compiler, compile: () => T): T {
  compiler.nodes += 1;
  compiler.depth += 1;
  if (compiler.depth > 2 * MAX_NESTING) throw new SourceFault("the template is nested too deeply", 0);
  const result = compile();
  compiler.depth -= 1;
  return result;
}

export function newScope(compiler: Compiler, names: Iterable<string>): Scope {
  const scope: Scope = { slots: new Map(), usesLoop: false };
  for (const name of names) declare(compiler, scope, name);
  return scope;
}

export function declare(compiler: Compiler, scope: Scope, name: string): number {
  const slot = scope.slots.get(name) ?? compiler.slotCount++;
  scope.slots.set(name, slot);
  return slot;
}

export function inScope<T>(compiler: Compiler, scope: Scope, compile: () => T): T {
  compiler.scopes.push(scope);
  const result = compile();
  compiler.scopes.pop();
  return result;
}

/** Names that `set` assigns in the scope of these statements; blocks other than `if` have scopes of their own. */
export function assignedNames(statements: readonly Statement[]): string[] {
  return statements.flatMap((statement) => {
    switch (statement.kind) {
      case "set":
        return statement.targets.filter(({ field }) => field === null).map(({ name }) => name);
      case "set_block":
        return statement.target.field === null ? [statement.target.name] : [];
      case "if":
        return [...assignedNames(statement.body), ...assignedNames(statement.otherwise)];
      default:
        return [];
    }
  });
}

export function isLocal(compiler: Compiler, name: string): boolean {
  return compiler.scopes.some((scope) => scope.slots.has(name));
}

/** The slot that an assignment in the innermost scope goes to. */
export function ownSlot(compiler: Compiler, name: string, at: number): number {
  const slot = compiler.scopes.at(-1)?.slots.get(name);
  if (slot === undefined) throw new SourceFault(`cannot assign to "${name}"`, at);
  return slot;
}

/**
 * Looks a name up: the innermost scope in which it has been assigned by then, else the variables. `guarded`: being
 * undefined is provided for.
 */
export function lookup(compiler: Compiler, name: string, at: number, guarded: boolean): Evaluate {
  const slots: number[] = [];
  for (const scope of compiler.scopes.toReversed()) {
    const slot = scope.slots.get(name);
    if (slot === undefined) continue;
    if (name === "loop") scope.usesLoop = true;
    slots.push(slot);
  }
  const fallback = variable(name, compiler.escape && !compiler.raw);
  const [innermost, ...outer] = slots;
  if (innermost === undefined) {
    compiler.variables.add(name);
    if (!guarded && !compiler.unguarded.has(name)) compiler.unguarded.set(name, at);
    return fallback;
  }
  return (run) => {
    const value = run.slots[innermost];
    if (value !== undefined) return value;
    for (const slot of outer) if (run.slots[slot] !== undefined) return run.slots[slot];
    return fallback(run);
  };
}

function variable(name: string, escape: boolean): Evaluate {
  return (run) => {
    const { variables } = run;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    switch (typeof value) {
      case "undefined":
      case "function":
      case "symbol":
        return new Undefined(`'${name}' is undefined`, run.strict);
      case "string":
        if (!escape) return value;
        return value.length < 64 ? run.outside(value) : escapedOnce(run, name, value);
      case "object":
        return escape ? escapedOnce(run, name, value) : value;
      default:
        return value;
    }
  };
}

function escapedOnce(run: Run, name: string, value: Value): Value {
  const known = run.escaped.get(name);
  if (known !== undefined) return known;
  const escaped = escapeDeep(run, value);
  run.escaped.set(name, escaped);
  return escaped;
}
