import { parse as parseTokens } from "@huggingface/jinja";
import { arrange } from "./arrange.ts";
import { type LibraryToken, unmark } from "./arrange_expression.ts";
import { type LibraryNode, readStatements } from "./library_nodes.ts";
import { SourceFault } from "./problem.ts";
import { scan } from "./scan.ts";
import type { Statement } from "./syntax.ts";

/** The library's types name its own token class; it only reads `type` and `value`. */
const parseLibrary = parseTokens as unknown as (
  tokens: readonly LibraryToken[],
) => { body: readonly LibraryNode[] };

/** Parses a source by Jinja2's grammar, with `@huggingface/jinja`'s parser. Throws `SourceFault`. */
export function parseTemplate(source: string): Statement[] {
  const tokens = arrange(scan(source));
  let furthest = 0;
  // The parser's errors have no place; how far it read has.
  const watched = new Proxy(tokens, {
    get(target, key, receiver) {
      const index = typeof key === "string" ? Number(key) : NaN;
      if (index > furthest && index < target.length) furthest = index;
      return Reflect.get(target, key, receiver);
    },
  });
  let body: readonly LibraryNode[];
  try {
    body = parseLibrary(watched).body;
  } catch {
    const token = tokens[furthest];
    throw new SourceFault(`unexpected ${describe(token)}`, token && token.at >= 0 ? token.at : source.length);
  }
  return readStatements(body, 0);
}

function describe(token: LibraryToken | undefined): string {
  switch (token?.type) {
    case undefined:
    case "Text":
      return "end of the template";
    case "CloseExpression":
    case "CloseStatement":
      return "end of the tag";
    case "StringLiteral":
      return "string";
    default:
      return `\`${unmark(token?.value ?? "")?.name ?? token?.value}\``;
  }
}
