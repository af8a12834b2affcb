/** A stretch of text, or what stands between `{{ }}` or `{% %}`. */
export type Piece =
  | { kind: "text"; text: string }
  | { kind: "output" | "tag"; tokens: Token[]; at: number; end: number };

export interface Token {
  kind: "name" | "operator" | "string" | "integer" | "float";
  /** As written; of a string, what it stands for; of a number, in a form that `Number` reads. */
  text: string;
  at: number;
}

/** A token as it is read: `at` is known to the reader. */
export interface Literal {
  kind: Token["kind"];
  text: string;
  /** Offset behind it. */
  end: number;
}
