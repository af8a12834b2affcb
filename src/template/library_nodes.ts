import { type ExpressionNode, fault, readExpression, readIdentifier } from "./library_expressions.ts";
import { SourceFault } from "./problem.ts";
import { type Expression, MAX_NESTING, type Statement, type Target } from "./syntax.ts";

/** The nodes of `@huggingface/jinja` that come of what `arrange` writes. */
export type LibraryNode =
  | ExpressionNode
  | { type: "If"; test: ExpressionNode; body: readonly LibraryNode[]; alternate: readonly LibraryNode[] }
  | {
    type: "For";
    loopvar: ExpressionNode;
    iterable: ExpressionNode;
    body: readonly LibraryNode[];
    defaultBlock: readonly LibraryNode[];
  }
  | { type: "Set"; assignee: ExpressionNode; value: ExpressionNode | null; body: readonly LibraryNode[] }
  | { type: "CallStatement"; call: ExpressionNode; body: readonly LibraryNode[] };

export function readStatements(nodes: readonly LibraryNode[], depth: number): Statement[] {
  if (depth > MAX_NESTING) throw new SourceFault("blocks are nested too deeply", 0);
  return nodes.map((node) => readStatement(node, depth + 1));
}

function readStatement(node: LibraryNode, depth: number): Statement {
  switch (node.type) {
    case "If":
      return {
        kind: "if",
        condition: readExpression(node.test, 0),
        body: readStatements(node.body, depth),
        otherwise: readStatements(node.alternate, depth),
      };
    case "For":
      return readFor(node, depth);
    case "Set":
      return readSet(node, depth);
    case "CallStatement": {
      if (node.call.type !== "CallExpression") throw fault(node.call);
      const bindings = node.call.args.map((arg) => {
        if (arg.type !== "KeywordArgumentExpression") throw fault(arg, "`with` wants `name = value`");
        return { name: readIdentifier(arg.key).name, value: readExpression(arg.value, 0) };
      });
      return { kind: "with", bindings, body: readStatements(node.body, depth) };
    }
    case "StringLiteral":
      return { kind: "text", text: node.value };
    default:
      return { kind: "output", value: readExpression(node, 0) };
  }
}

function readFor(node: LibraryNode & { type: "For" }, depth: number): Statement {
  const { loopvar, iterable } = node;
  if (iterable.type !== "SelectExpression") throw fault(iterable);
  const condition = readExpression(iterable.test, 0);
  const targets = readTargets(loopvar);
  const field = targets.find((target) => target.field !== null);
  if (field) throw new SourceFault("a loop cannot assign to a field", field.at);
  return {
    kind: "for",
    targets,
    unpack: loopvar.type === "TupleLiteral",
    items: readExpression(iterable.lhs, 0),
    condition: condition.kind === "const" && condition.value === true ? null : condition,
    body: readStatements(node.body, depth),
    otherwise: readStatements(node.defaultBlock, depth),
  };
}

function readSet(node: LibraryNode & { type: "Set" }, depth: number): Statement {
  if (node.value) {
    const targets = readTargets(node.assignee);
    return {
      kind: "set",
      targets,
      unpack: node.assignee.type === "TupleLiteral",
      value: readExpression(node.value, 0),
    };
  }
  const body = readStatements(node.body, depth);
  // The filters of `{% set name | filter %}` lie around the name; they are applied to what the block captured.
  let innermost = node.assignee;
  while (innermost.type === "FilterExpression") innermost = innermost.operand;
  const captured: Expression = { kind: "captured" };
  const value = readExpression(node.assignee, 0, { node: innermost, value: captured });
  if (innermost.type === "Identifier" && readIdentifier(innermost).kind === "pseudo") {
    return { kind: "filter_block", value, body };
  }
  const [target, more] = readTargets(innermost);
  if (!target || more) throw fault(innermost, "a block can be assigned to one name only");
  return { kind: "set_block", target, value, body };
}

function readTargets(node: ExpressionNode): Target[] {
  if (node.type === "TupleLiteral") return node.value.flatMap(readTargets);
  if (node.type === "MemberExpression" && !node.computed) {
    const object = readIdentifier(node.object);
    return [{ name: object.name, field: readIdentifier(node.property).name, at: object.at }];
  }
  if (node.type !== "Identifier") throw fault(node, "cannot assign to this");
  const { name, at } = readIdentifier(node);
  return [{ name, field: null, at }];
}
