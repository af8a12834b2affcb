import { Composer, type CST, type Document, Lexer, type LineCounter, Parser, type YAMLError } from "yaml";
import type { Finding, Place } from "../errors/finding.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { finding } from "../errors/reyn_error.ts";
import { MAX_DEPTH } from "./yaml_value.ts";

export type Composed =
  | { state: "document"; document: Document; /** Where a second document begins. */ second?: number }
  | { state: "failed"; code: "E_YAML_DEPTH" | "E_YAML_SYNTAX"; message: string; offset: number };

/**
 * Text to nodes, as the library's `parseDocument` does it, but that what is nested far too deeply ends the work at once:
 * composing it takes seconds. Never throws.
 */
export function composeYaml(text: string, lines: LineCounter): Composed {
  const composer = new Composer({
    version: "1.2",
    // Its own test compares every pair of keys; `plainValue` looks keys up.
    uniqueKeys: false,
    resolveKnownTags: false,
  });
  const position = { offset: 0, tooDeep: false };
  try {
    let document: Document | undefined;
    for (const next of composer.compose(tokens(text, lines, position), true, text.length)) {
      if (document) return { state: "document", document, second: next.range[0] };
      document = next;
    }
    if (document && !position.tooDeep) return { state: "document", document };
  } catch (error) {
    // A RangeError is the end of the stack.
    if (!(error instanceof RangeError)) {
      const message = error instanceof Error ? escapeVisible(error.message).slice(0, 200) : "unknown fault";
      return {
        state: "failed",
        code: "E_YAML_SYNTAX",
        message: `cannot be parsed: ${message}`,
        offset: position.offset,
      };
    }
  }
  const message = `is nested more than ${MAX_DEPTH} deep`;
  return { state: "failed", code: "E_YAML_DEPTH", message, offset: position.offset };
}

function* tokens(
  text: string,
  lines: LineCounter,
  position: { offset: number; tooDeep: boolean },
): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    position.offset = parser.offset;
    // One entry for each open collection, and a few for the document and what is being read.
    if (parser.stack.length > MAX_DEPTH + 8) {
      position.tooDeep = true;
      return;
    }
  }
  yield* parser.end();
}

export function syntaxFinding(error: YAMLError, place: Place): Finding {
  const { code } = error;
  switch (code) {
    case "TAB_AS_INDENT":
      return finding("E_YAML_SYNTAX", "a tab cannot indent", { fix: "use spaces", place });
    case "MULTIPLE_DOCS":
      return finding("E_YAML_SYNTAX", "the file holds more than one document", {
        fix: "remove the `---` line",
        place,
      });
    case "TAG_RESOLVE_FAILED": {
      const tag = /^Unresolved tag: (.*)$/.exec(error.message)?.[1]?.replace("tag:yaml.org,2002:", "!!");
      const message = tag ? `unknown tag ${escapeVisible(tag).slice(0, 80)}` : lowered(error.message);
      return finding("E_YAML_TAG", message, { fix: "remove the tag", place });
    }
    case "BAD_ALIAS":
      return finding("E_YAML_ALIAS", lowered(error.message), { place });
    default:
      return finding("E_YAML_SYNTAX", lowered(error.message), { place });
  }
}

function lowered(message: string): string {
  const text = escapeVisible(message).slice(0, 200);
  return text.charAt(0).toLowerCase() + text.slice(1);
}
