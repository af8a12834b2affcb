import { attribute, item, slice } from "./access.ts";
import { affirm, calculate, negate } from "./arithmetic.ts";
import { made, spendItems } from "./budget.ts";
import { compileCall, compileFilter, compileTest } from "./compile_call.ts";
import { contains, equal, order } from "./compare.ts";
import { type Compiler, type Evaluate, lookup, nested } from "./compiler.ts";
import { toText } from "./python_text.ts";
import type { ComparisonOperator, Expression } from "./syntax.ts";
import { Dict, floatOf, Sequence, Undefined } from "./values.ts";
import { truth } from "./truth.ts";

/** Makes a function of an expression. `captured`: the text of the block that is being filtered. */
export function compileExpression(compiler: Compiler, expression: Expression, captured?: Evaluate): Evaluate {
  return nested(compiler, () => compileNode(compiler, expression, captured));
}

function compileNode(compiler: Compiler, expression: Expression, captured?: Evaluate): Evaluate {
  const compile = (inner: Expression) => compileExpression(compiler, inner, captured);
  switch (expression.kind) {
    case "const": {
      const value = expression.float ? floatOf(Number(expression.value)) : expression.value;
      return () => value;
    }
    case "name":
      return lookup(compiler, expression.name, expression.at, false);
    case "captured":
      return captured ?? (() => "");
    case "list": {
      const items = expression.items.map(compile);
      return (run) => items.map((each) => each(run));
    }
    case "tuple": {
      const items = expression.items.map(compile);
      return (run) => new Sequence("tuple", items.map((each) => each(run)));
    }
    case "dict":
      return compileDict(expression.pairs.map(([key, value]) => [compile(key), compile(value)]));
    case "unary":
      return compileUnary(expression.operator, compile(expression.operand));
    case "arithmetic": {
      const { operator } = expression;
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (run) => calculate(run, operator, left(run), right(run));
    }
    case "concat": {
      const parts = expression.parts.map(compile);
      return (run) => {
        let text = "";
        for (const part of parts) text = made(run, text + toText(run, part(run)));
        return text;
      };
    }
    case "and": {
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (run) => {
        const value = left(run);
        return truth(run, value) ? right(run) : value;
      };
    }
    case "or": {
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (run) => {
        const value = left(run);
        return truth(run, value) ? value : right(run);
      };
    }
    case "compare":
      return compileCompare(
        compile(expression.first),
        expression.rest.map(([operator, operand]) => [operator, compile(operand)]),
      );
    case "choice":
      return compileChoice(
        compile(expression.condition),
        compile(expression.yes),
        expression.no ? compile(expression.no) : null,
      );
    case "attribute": {
      const { name } = expression;
      const object = compile(expression.object);
      return (run) => attribute(run, object(run), name);
    }
    case "item": {
      const object = compile(expression.object);
      const key = compile(expression.key);
      if (expression.key.kind === "const") return (run) => item(run, object(run), key(run));
      // Errors are logged, and a key that is computed may be text of a payload.
      return (run) => {
        const found = item(run, object(run), key(run));
        return found instanceof Undefined ? new Undefined("no such item", run.strict) : found;
      };
    }
    case "slice": {
      const object = compile(expression.object);
      const [start, stop, step] = [expression.start, expression.stop, expression.step].map((bound) =>
        bound ? compile(bound) : null
      );
      return (run) => slice(run, object(run), start?.(run) ?? null, stop?.(run) ?? null, step?.(run) ?? null);
    }
    case "call":
      return compileCall(compiler, expression, compile);
    case "filter":
      return compileFilter(compiler, expression, compile);
    case "test":
      return compileTest(compiler, expression, compile);
  }
}

function compileDict(pairs: readonly (readonly [Evaluate, Evaluate])[]): Evaluate {
  return (run) => {
    const dict = new Dict();
    for (const [key, value] of pairs) dict.set(key(run), value(run));
    spendItems(run, pairs.length);
    return dict;
  };
}

function compileUnary(operator: "-" | "+" | "not", operand: Evaluate): Evaluate {
  switch (operator) {
    case "not":
      return (run) => !truth(run, operand(run));
    case "-":
      return (run) => negate(operand(run));
    case "+":
      return (run) => affirm(operand(run));
  }
}

/** `a < b < c` looks at each operand once, and no further than the first comparison that fails. */
function compileCompare(
  first: Evaluate,
  rest: readonly (readonly [ComparisonOperator, Evaluate])[],
): Evaluate {
  const [only] = rest;
  if (only && rest.length === 1) {
    const compare = comparison(only[0]);
    const operand = only[1];
    return (run) => compare(run, first(run), operand(run));
  }
  const steps = rest.map(([operator, operand]) => ({ compare: comparison(operator), operand }));
  return (run) => {
    let left = first(run);
    for (const { compare, operand } of steps) {
      const right = operand(run);
      if (!compare(run, left, right)) return false;
      left = right;
    }
    return true;
  };
}

function comparison(operator: ComparisonOperator): typeof equal {
  switch (operator) {
    case "==":
      return equal;
    case "!=":
      return (run, a, b) => !equal(run, a, b);
    case "<":
      return (run, a, b) => order(run, a, b, "<") < 0;
    case "<=":
      return (run, a, b) => order(run, a, b, "<=") <= 0;
    case ">":
      return (run, a, b) => order(run, a, b, ">") > 0;
    case ">=":
      return (run, a, b) => order(run, a, b, ">=") >= 0;
    case "in":
      return (run, a, b) => contains(run, b, a);
    case "not in":
      return (run, a, b) => !contains(run, b, a);
  }
}

function compileChoice(condition: Evaluate, yes: Evaluate, no: Evaluate | null): Evaluate {
  return (run) => {
    if (truth(run, condition(run))) return yes(run);
    // Jinja2 lets even a strict template show this as nothing.
    return no ? no(run) : new Undefined("an inline `if` without `else` was false", false);
  };
}
