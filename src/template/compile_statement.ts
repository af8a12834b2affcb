import { iterate } from "./access.ts";
import { made, type Run, spend, write } from "./budget.ts";
import { LoopState } from "./builtins.ts";
import {
  assignedNames,
  type Compiler,
  declare,
  type Evaluate,
  type Execute,
  inScope,
  lookup,
  nested,
  newScope,
  ownSlot,
  type Scope,
} from "./compiler.ts";
import { compileExpression } from "./compile_expression.ts";
import { RenderFault } from "./problem.ts";
import { toText } from "./python_text.ts";
import type { Statement, Target } from "./syntax.ts";
import { Namespace, type Value } from "./values.ts";
import { truth } from "./truth.ts";

/** Makes one function of statements that share a scope. */
export function compileBody(compiler: Compiler, statements: readonly Statement[]): Execute {
  const steps = statements.map((statement) => nested(compiler, () => compileStatement(compiler, statement)));
  const [first, second] = steps;
  if (!first) return () => {};
  if (!second) return first;
  return (run) => {
    for (const step of steps) step(run);
  };
}

function compileStatement(compiler: Compiler, statement: Statement): Execute {
  switch (statement.kind) {
    case "text": {
      const { text } = statement;
      return (run) => write(run, text);
    }
    case "output": {
      const value = compileExpression(compiler, statement.value);
      return (run) => write(run, toText(run, value(run)));
    }
    case "if": {
      const condition = compileExpression(compiler, statement.condition);
      const body = compileBody(compiler, statement.body);
      const otherwise = compileBody(compiler, statement.otherwise);
      return (run) => truth(run, condition(run)) ? body(run) : otherwise(run);
    }
    case "for":
      return compileFor(compiler, statement);
    case "set": {
      const value = compileExpression(compiler, statement.value);
      const assign = compileAssign(compiler, statement.targets, statement.unpack);
      return (run) => assign(run, value(run));
    }
    case "set_block": {
      const captured = compileCapture(compiler, statement.body);
      const value = compileExpression(compiler, statement.value, captured);
      const assign = compileAssign(compiler, [statement.target], false);
      return (run) => assign(run, value(run));
    }
    case "filter_block": {
      const value = compileExpression(compiler, statement.value, compileCapture(compiler, statement.body));
      return (run) => write(run, toText(run, value(run)));
    }
    case "with": {
      const values = statement.bindings.map(({ value }) => compileExpression(compiler, value));
      const scope = newScope(compiler, [
        ...statement.bindings.map(({ name }) => name),
        ...assignedNames(statement.body),
      ]);
      const slots = statement.bindings.map(({ name }) => scope.slots.get(name) ?? -1);
      const body = inScope(compiler, scope, () => compileBody(compiler, statement.body));
      return (run) => {
        // All values are found before any name is assigned.
        const found = values.map((value) => value(run));
        clear(run, scope);
        slots.forEach((slot, index) => run.slots[slot] = found[index]);
        body(run);
      };
    }
  }
}

/** The text that statements would have written. */
function compileCapture(compiler: Compiler, statements: readonly Statement[]): Evaluate {
  const scope = newScope(compiler, assignedNames(statements));
  const body = inScope(compiler, scope, () => compileBody(compiler, statements));
  return (run) => {
    const before = run.output;
    run.output = "";
    clear(run, scope);
    body(run);
    const captured = run.output;
    run.output = before;
    return made(run, captured);
  };
}

function clear(run: Run, scope: Scope): void {
  for (const slot of scope.slots.values()) run.slots[slot] = undefined;
}

function compileFor(compiler: Compiler, statement: Statement & { kind: "for" }): Execute {
  const items = compileExpression(compiler, statement.items);
  const scope = newScope(compiler, statement.targets.map(({ name }) => name));
  const before = compiler.nodes;
  const [assign, condition] = inScope(compiler, scope, () => [
    compileAssign(compiler, statement.targets, statement.unpack),
    statement.condition ? compileExpression(compiler, statement.condition) : null,
  ]);
  const loopSlot = declare(compiler, scope, "loop");
  for (const name of assignedNames(statement.body)) declare(compiler, scope, name);
  const body = inScope(compiler, scope, () => compileBody(compiler, statement.body));
  const cost = compiler.nodes - before + 1;
  const elseScope = newScope(compiler, assignedNames(statement.otherwise));
  const otherwise = inScope(compiler, elseScope, () => compileBody(compiler, statement.otherwise));

  return (run) => {
    const all = iterate(run, items(run));
    const chosen = condition
      ? all.filter((value) => {
        spend(run, cost);
        clear(run, scope);
        assign(run, value);
        return truth(run, condition(run));
      })
      : all;
    const loop = scope.usesLoop ? new LoopState(run, chosen) : undefined;
    for (let index = 0; index < chosen.length; index += 1) {
      spend(run, cost);
      clear(run, scope);
      assign(run, chosen[index]);
      if (loop) {
        loop.index0 = index;
        run.slots[loopSlot] = loop;
      }
      body(run);
    }
    clear(run, scope);
    if (chosen.length > 0) return;
    clear(run, elseScope);
    otherwise(run);
  };
}

function compileAssign(
  compiler: Compiler,
  targets: readonly Target[],
  unpack: boolean,
): (run: Run, value: Value) => void {
  const setters = targets.map((target) => compileTarget(compiler, target));
  const [only] = setters;
  if (only && !unpack) return only;
  return (run, value) => {
    const items = iterate(run, value);
    if (items.length !== setters.length) {
      throw new RenderFault(`cannot unpack ${items.length} values into ${setters.length} names`);
    }
    setters.forEach((set, index) => set(run, items[index]));
  };
}

function compileTarget(compiler: Compiler, target: Target): (run: Run, value: Value) => void {
  const { name, field, at } = target;
  if (field === null) {
    const slot = ownSlot(compiler, name, at);
    return (run, value) => {
      run.slots[slot] = value;
    };
  }
  const object = lookup(compiler, name, at, false);
  return (run, value) => {
    const namespace = object(run);
    if (!(namespace instanceof Namespace)) {
      throw new RenderFault("cannot assign attribute on non-namespace object");
    }
    namespace.fields.set(field, value);
  };
}
