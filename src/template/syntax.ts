/** A template as it is compiled. `at` is an offset into the source. */
export type Statement =
  | { kind: "text"; text: string }
  | { kind: "output"; value: Expression }
  | { kind: "if"; condition: Expression; body: Statement[]; otherwise: Statement[] }
  | {
    kind: "for";
    targets: Target[];
    unpack: boolean;
    items: Expression;
    condition: Expression | null;
    body: Statement[];
    otherwise: Statement[];
  }
  | { kind: "set"; targets: Target[]; unpack: boolean; value: Expression }
  /** `{% set name | filter %}…{% endset %}`; the filters are applied to the placeholder `captured`. */
  | { kind: "set_block"; target: Target; value: Expression; body: Statement[] }
  | { kind: "filter_block"; value: Expression; body: Statement[] }
  | { kind: "with"; bindings: { name: string; value: Expression }[]; body: Statement[] };

/** What a value is assigned to: a name, or a field of a namespace. */
export interface Target {
  name: string;
  field: string | null;
  at: number;
}

export type Expression =
  | { kind: "const"; value: string | number | boolean | null; float?: boolean }
  | { kind: "name"; name: string; at: number }
  /** The text of the block that is being filtered. */
  | { kind: "captured" }
  | { kind: "list" | "tuple"; items: Expression[] }
  | { kind: "dict"; pairs: [key: Expression, value: Expression][] }
  | { kind: "unary"; operator: "-" | "+" | "not"; operand: Expression }
  | { kind: "arithmetic"; operator: ArithmeticOperator; left: Expression; right: Expression }
  | { kind: "concat"; parts: Expression[] }
  | { kind: "and" | "or"; left: Expression; right: Expression }
  | { kind: "compare"; first: Expression; rest: [operator: ComparisonOperator, operand: Expression][] }
  | { kind: "choice"; condition: Expression; yes: Expression; no: Expression | null }
  | { kind: "attribute"; object: Expression; name: string; at: number }
  | { kind: "item"; object: Expression; key: Expression }
  | {
    kind: "slice";
    object: Expression;
    start: Expression | null;
    stop: Expression | null;
    step: Expression | null;
  }
  | { kind: "call"; callee: Expression; args: Arguments; at: number }
  | { kind: "filter"; operand: Expression; name: string; args: Arguments; at: number }
  | { kind: "test"; operand: Expression; name: string; negated: boolean; args: Arguments; at: number };

export interface Arguments {
  positional: Expression[];
  named: [name: string, value: Expression][];
}

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

/** Deeper nesting of brackets, blocks or operations is refused. */
export const MAX_NESTING = 100;
/** Longer sources are refused. Bytes of UTF-8. */
export const MAX_SOURCE_BYTES = 8 * 1024;
