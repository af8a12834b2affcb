import { anyText, count, flag, integer, optionalText, text } from "./arguments.ts";
import { iterate, lengthOf } from "./access.ts";
import { made, type Run, spendChars, spendRead, spendSearch, spendText } from "./budget.ts";
import { pairsOf } from "./compare.ts";
import { capitalize, titleOf } from "./letters.ts";
import { jsonText } from "./json_text.ts";
import { formatPercent } from "./printf.ts";
import { RenderFault } from "./problem.ts";
import { toText } from "./python_text.ts";
import type { Callable } from "./signature.ts";
import { charCount, charSlice, SPACE_CLASS, splitLines, strip } from "./strings.ts";
import { stripTags } from "./strip_tags.ts";
import { joinTexts, padText, replaceText } from "./text_operations.ts";
import { Dict, itemsOf, Sequence, typeName, Undefined, type Value } from "./values.ts";
import { wordWrap } from "./word_wrap.ts";

const TITLE_PARTS = new RegExp(`([-${SPACE_CLASS}({\\[<]+)`);

/** Filters that make a text of a value. */
export const TEXT_FILTERS: Readonly<Record<string, Callable>> = {
  string: onText([], (_run, self) => self),
  safe: onText([], (_run, self) => self),
  upper: onText([], (_run, self) => self.toUpperCase()),
  lower: onText([], (_run, self) => self.toLowerCase()),
  capitalize: onText([], (_run, self) => capitalize(self)),
  title: onText([], (run, self) => {
    spendChars(run, self);
    return self.split(TITLE_PARTS).map((part) => {
      const first = part.slice(0, (part.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
      return titleOf(first) + part.slice(first.length).toLowerCase();
    }).join("");
  }),
  trim: onText(["chars"], (_run, self, [chars]) => strip(self, optionalText(chars, "chars"), "both")),
  escape: onText([], (_run, self) => escapeHtml(self)),
  e: onText([], (_run, self) => escapeHtml(self)),
  forceescape: onText([], (_run, self) => escapeHtml(self)),
  striptags: onText([], (run, self) => stripTags(run, self)),
  center: onText(
    ["width"],
    (run, self, [width]) => padText(run, self, count(width, 80, "width"), " ", "both"),
  ),
  wordcount: onText([], (_run, self) => self.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  replace: onText(
    ["old", "new", "count"],
    (run, self, [old, replacement, times]) =>
      replaceText(
        run,
        self,
        anyText(run, old),
        anyText(run, replacement),
        integer(times ?? undefined, -1, "count"),
      ),
    2,
  ),
  format: {
    params: [],
    rest: true,
    apply(run, value, _args, { positional, named }) {
      if (positional.length > 0 && named.size > 0) {
        throw new RenderFault("format takes positional or named arguments, not both");
      }
      return made(
        run,
        formatPercent(
          run,
          toText(run, value),
          named.size > 0 ? dictOf(named) : new Sequence("tuple", positional),
        ),
      );
    },
  },
  indent: {
    params: ["width", "first", "blank"],
    apply(run, value, [width, first, blank]) {
      const unit = typeof width === "string" ? width : " ".repeat(Math.max(0, count(width, 4, "width")));
      return indent(run, text(value, "the value"), unit, flag(run, first, false), flag(run, blank, false));
    },
  },
  truncate: {
    params: ["length", "killwords", "end", "leeway"],
    apply(run, value, [length, killwords, end, leeway]) {
      const longest = integer(length, 255, "length") + integer(leeway ?? undefined, 5, "leeway");
      if (typeof value !== "string" && lengthOf(run, value) <= longest) return value;
      const self = text(value, "the value");
      spendRead(run, self.length);
      return truncate(
        self,
        longest,
        integer(leeway ?? undefined, 5, "leeway"),
        flag(run, killwords, false),
        anyText(run, end, "..."),
      );
    },
  },
  wordwrap: {
    params: ["width", "break_long_words", "wrapstring", "break_on_hyphens"],
    apply(run, value, [width, breakLong, wrapstring, breakOnHyphens]) {
      const lines = wordWrap(run, text(value, "the value"), {
        width: count(width, 79, "width"),
        breakLongWords: flag(run, breakLong, true),
        breakOnHyphens: flag(run, breakOnHyphens, true),
      });
      return joinTexts(run, lines, optionalText(wrapstring, "wrapstring") ?? "\n");
    },
  },
  tojson: {
    params: ["indent"],
    apply: (run, value, [indentBy]) =>
      jsonText(run, value, indentBy === undefined || indentBy === null ? null : count(indentBy, 0, "indent")),
  },
  urlencode: {
    params: [],
    apply(run, value) {
      const pairs = typeName(value) === "dict"
        ? pairsOf(value)
        : typeof value === "string"
        ? null
        : itemsOf(value);
      if (!pairs) return made(run, quoteUrl(toText(run, value), true));
      const shown = (typeName(value) === "dict" ? pairsOf(value) : iterate(run, value)).map((pair) => {
        const items = iterate(run, pair);
        if (items.length !== 2) throw new RenderFault("urlencode wants pairs");
        return items.map((part) => quoteUrl(toText(run, part), false)).join("=");
      });
      return joinTexts(run, shown, "&");
    },
  },
  xmlattr: {
    params: ["autospace"],
    apply(run, value, [autospace]) {
      if (typeName(value) !== "dict") throw new RenderFault("xmlattr wants a dict");
      const parts = pairsOf(value).filter(([, each]) => each !== null && !(each instanceof Undefined)).map(
        ([key, each]) => {
          const name = text(key, "an attribute's name");
          if (/[\s/>=]/.test(name)) throw new RenderFault("invalid character in an attribute's name");
          return `${escapeHtml(name)}="${escapeHtml(toText(run, each))}"`;
        },
      );
      const joined = joinTexts(run, parts, " ");
      return joined !== "" && flag(run, autospace, true) ? ` ${joined}` : joined;
    },
  },
};

/** A filter on a value's text; what it makes is paid for. */
function onText(
  params: readonly string[],
  apply: (run: Run, self: string, args: readonly Value[]) => Value,
  required = 0,
): Callable {
  return {
    params,
    required,
    apply(run, value, args) {
      const self = toText(run, value);
      spendSearch(run, self);
      const result = apply(run, self, args);
      return typeof result === "string" ? made(run, result) : result;
    },
  };
}

function dictOf(named: ReadonlyMap<string, Value>): Dict {
  const dict = new Dict();
  for (const [key, value] of named) dict.set(key, value);
  return dict;
}

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&#39;",
  '"': "&#34;",
};

function escapeHtml(self: string): string {
  return self.replace(/[&<>'"]/g, (char) => HTML[char] ?? char);
}

function quoteUrl(self: string, keepSlash: boolean): string {
  let quoted: string;
  try {
    quoted = encodeURIComponent(self).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  } catch {
    throw new RenderFault("a text with half a surrogate pair cannot be in a URL");
  }
  return keepSlash ? quoted.replaceAll("%2F", "/") : quoted.replaceAll("%20", "+");
}

function indent(run: Run, self: string, unit: string, first: boolean, blank: boolean): string {
  const lines = splitLines(`${self}\n`);
  spendText(run, self.length + lines.length * unit.length);
  const shown = lines.map((line, index) => index === 0 || (line === "" && !blank) ? line : unit + line);
  return (first ? unit : "") + shown.join("\n");
}

/** `longest`: characters that may stay as they are; what is cut is shorter by the leeway. */
function truncate(self: string, longest: number, leeway: number, killwords: boolean, end: string): string {
  const length = longest - leeway;
  if (length < charCount(end)) {
    throw new RenderFault(`truncate: expected length >= ${charCount(end)}, got ${length}`);
  }
  if (leeway < 0) throw new RenderFault(`truncate: expected leeway >= 0, got ${leeway}`);
  if (charCount(self) <= longest) return self;
  const cut = charSlice(self, 0, length - charCount(end));
  const space = cut.lastIndexOf(" ");
  return (killwords || space < 0 ? cut : cut.slice(0, space)) + end;
}
