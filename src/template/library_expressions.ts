import { unmark } from "./arrange_expression.ts";
import { SourceFault } from "./problem.ts";
import {
  type Arguments,
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  MAX_NESTING,
} from "./syntax.ts";

interface OperatorToken {
  value: string;
  at: number;
  group: number;
}

/** The expression nodes of `@huggingface/jinja`. */
export type ExpressionNode =
  | { type: "Identifier"; value: string }
  | { type: "IntegerLiteral" | "FloatLiteral"; value: number }
  | { type: "StringLiteral"; value: string }
  | { type: "ArrayLiteral" | "TupleLiteral"; value: readonly ExpressionNode[] }
  | { type: "ObjectLiteral"; value: ReadonlyMap<ExpressionNode, ExpressionNode> }
  | BinaryNode
  | { type: "UnaryExpression"; operator: OperatorToken; argument: ExpressionNode }
  | { type: "FilterExpression"; operand: ExpressionNode; filter: ExpressionNode }
  | { type: "SelectExpression"; lhs: ExpressionNode; test: ExpressionNode }
  | { type: "Ternary"; condition: ExpressionNode; trueExpr: ExpressionNode; falseExpr: ExpressionNode }
  | { type: "MemberExpression"; object: ExpressionNode; property: ExpressionNode; computed: boolean }
  | { type: "CallExpression"; callee: ExpressionNode; args: readonly ExpressionNode[] }
  | { type: "SliceExpression"; start?: ExpressionNode; stop?: ExpressionNode; step?: ExpressionNode }
  | { type: "KeywordArgumentExpression"; key: ExpressionNode; value: ExpressionNode }
  | { type: "SpreadExpression" | "KeywordSpreadExpression"; argument: ExpressionNode };

interface BinaryNode {
  type: "BinaryExpression";
  operator: OperatorToken;
  left: ExpressionNode;
  right: ExpressionNode;
}

/** A node that stands for something else. */
interface Standin {
  node: ExpressionNode;
  value: Expression;
}

/** Reads an expression. `standin`: what one node of it means, where a block's filters are read. */
export function readExpression(node: ExpressionNode, depth: number, standin?: Standin): Expression {
  if (standin && node === standin.node) return standin.value;
  if (depth > MAX_NESTING) throw fault(node, "an expression is nested too deeply");
  const read = (inner: ExpressionNode) => readExpression(inner, depth + 1, standin);
  const optional = (inner: ExpressionNode | undefined) => inner ? read(inner) : null;
  switch (node.type) {
    case "Identifier":
      return readName(node);
    case "IntegerLiteral":
      return { kind: "const", value: node.value };
    case "FloatLiteral":
      return { kind: "const", value: node.value, float: true };
    case "StringLiteral":
      return { kind: "const", value: node.value };
    case "ArrayLiteral":
      return { kind: "list", items: node.value.map(read) };
    case "ObjectLiteral":
      return { kind: "dict", pairs: [...node.value].map(([key, value]) => [read(key), read(value)]) };
    case "UnaryExpression":
      return { kind: "unary", operator: unaryOperator(node.operator), operand: read(node.argument) };
    case "BinaryExpression":
      return readBinary(node, read);
    case "SelectExpression":
      return { kind: "choice", condition: read(node.test), yes: read(node.lhs), no: null };
    case "Ternary":
      return {
        kind: "choice",
        condition: read(node.condition),
        yes: read(node.trueExpr),
        no: read(node.falseExpr),
      };
    case "MemberExpression": {
      const object = read(node.object);
      const { property } = node;
      if (property.type === "SliceExpression") {
        return {
          kind: "slice",
          object,
          start: optional(property.start),
          stop: optional(property.stop),
          step: optional(property.step),
        };
      }
      if (node.computed || property.type === "IntegerLiteral") {
        return { kind: "item", object, key: read(property) };
      }
      const { name, at } = readIdentifier(property);
      return { kind: "attribute", object, name, at };
    }
    case "CallExpression":
      return {
        kind: "call",
        callee: read(node.callee),
        args: readArguments(node.args, read),
        at: placeOf(node),
      };
    case "FilterExpression":
      return readFilter(node, read);
    default:
      throw fault(node);
  }
}

export function readIdentifier(node: ExpressionNode): { kind: string; name: string; at: number } {
  const marked = node.type === "Identifier" ? unmark(node.value) : null;
  if (!marked) throw fault(node);
  return marked;
}

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);

function readName(node: ExpressionNode): Expression {
  const { name, at } = readIdentifier(node);
  const constant = CONSTANTS.get(name);
  return constant === undefined ? { kind: "name", name, at } : { kind: "const", value: constant };
}

type Read = (node: ExpressionNode) => Expression;

/** Filters, and what `arrange` writes as filters: tests and tuples. */
function readFilter(node: ExpressionNode & { type: "FilterExpression" }, read: Read): Expression {
  const { filter } = node;
  const { kind, name, at } = readIdentifier(filter.type === "CallExpression" ? filter.callee : filter);
  const operand = read(node.operand);
  const args = filter.type === "CallExpression"
    ? readArguments(filter.args, read)
    : { positional: [], named: [] };
  if (kind === "name") return { kind: "filter", operand, name, args, at };
  if (kind === "test" || kind === "not_test") {
    return { kind: "test", operand, name, negated: kind === "not_test", args, at };
  }
  if (operand.kind !== "list") throw fault(filter);
  return { kind: "tuple", items: operand.items };
}

function readArguments(nodes: readonly ExpressionNode[], read: Read): Arguments {
  const args: Arguments = { positional: [], named: [] };
  for (const node of nodes) {
    if (node.type === "SpreadExpression" || node.type === "KeywordSpreadExpression") {
      throw fault(node, "`*` and `**` arguments are not available in hook templates");
    }
    if (node.type === "KeywordArgumentExpression") {
      args.named.push([readIdentifier(node.key).name, read(node.value)]);
    } else args.positional.push(read(node));
  }
  return args;
}

function readBinary(node: BinaryNode, read: Read): Expression {
  switch (node.operator.value) {
    case "and":
    case "or":
      return { kind: node.operator.value, left: read(node.left), right: read(node.right) };
    case "+":
    case "-":
    case "~":
      return readSum(node, read);
    case "*":
    case "/":
    case "//":
    case "%":
    case "**":
      return {
        kind: "arithmetic",
        operator: node.operator.value,
        left: read(node.left),
        right: read(node.right),
      };
    default: {
      const { first, rest } = flatten(node, isComparison);
      return {
        kind: "compare",
        first: read(first),
        rest: rest.map(({ operator, operand }) => [comparison(operator), read(operand)]),
      };
    }
  }
}

/** The parser gives `+`, `-` and `~` one rank; `~` binds tighter. */
function readSum(node: BinaryNode, read: Read): Expression {
  const { first, rest } = flatten(node, (operator) => ["+", "-", "~"].includes(operator));
  let sum: Expression | null = null;
  let sign: ArithmeticOperator = "+";
  let parts = [read(first)];
  const add = () => {
    const [only] = parts;
    const term: Expression = parts.length === 1 && only ? only : { kind: "concat", parts };
    sum = sum ? { kind: "arithmetic", operator: sign, left: sum, right: term } : term;
  };
  for (const { operator, operand } of rest) {
    if (operator.value !== "~") {
      add();
      sign = operator.value === "-" ? "-" : "+";
      parts = [];
    }
    parts.push(read(operand));
  }
  add();
  return sum ?? read(first);
}

/** `a op b op c` as its operands, where the source had no brackets between: those have the same group. */
function flatten(node: BinaryNode, belongs: (operator: string) => boolean) {
  const rest: { operator: OperatorToken; operand: ExpressionNode }[] = [];
  let first: ExpressionNode = node;
  while (
    first.type === "BinaryExpression" && belongs(first.operator.value) &&
    first.operator.group === node.operator.group
  ) {
    rest.push({ operator: first.operator, operand: first.right });
    first = first.left;
  }
  return { first, rest: rest.reverse() };
}

const COMPARISONS: readonly string[] = [
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "not in",
] satisfies ComparisonOperator[];

function isComparison(operator: string): boolean {
  return COMPARISONS.includes(operator);
}

function comparison(operator: OperatorToken): ComparisonOperator {
  const value = operator.value as ComparisonOperator;
  if (!isComparison(value)) {
    throw new SourceFault(`unexpected \`${operator.value}\``, Math.max(0, operator.at));
  }
  return value;
}

function unaryOperator(operator: OperatorToken): "-" | "+" | "not" {
  const { value } = operator;
  if (value === "-" || value === "+" || value === "not") return value;
  throw new SourceFault(`unexpected \`${value}\``, operator.at);
}

/** The first place that is known in a node. */
function placeOf(node: ExpressionNode): number {
  switch (node.type) {
    case "Identifier":
      return unmark(node.value)?.at ?? 0;
    case "BinaryExpression":
    case "UnaryExpression":
      return Math.max(0, node.operator.at);
    case "CallExpression":
      return placeOf(node.callee);
    case "MemberExpression":
      return placeOf(node.computed ? node.object : node.property);
    case "FilterExpression":
      return placeOf(node.filter);
    case "SpreadExpression":
    case "KeywordSpreadExpression":
      return placeOf(node.argument);
    case "KeywordArgumentExpression":
      return placeOf(node.key);
    default:
      return 0;
  }
}

export function fault(node: ExpressionNode, message?: string): SourceFault {
  const shown = node.type === "Identifier" ? `\`${unmark(node.value)?.name ?? node.value}\`` : "expression";
  return new SourceFault(message ?? `unexpected ${shown}`, placeOf(node));
}
