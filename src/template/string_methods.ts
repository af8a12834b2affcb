import { anyText, count, flag, integer, optionalText, text } from "./arguments.ts";
import { iterate } from "./access.ts";
import { formatBraces } from "./brace_format.ts";
import { made, type Run, spendChars, spendSearch } from "./budget.ts";
import * as letters from "./letters.ts";
import { RenderFault } from "./problem.ts";
import type { Callable, Rest } from "./signature.ts";
import { charCount, charSlice, splitLines, strip } from "./strings.ts";
import * as texts from "./text_operations.ts";
import { itemsOf, Sequence, typeName, type Value } from "./values.ts";

type Method = (run: Run, self: string, args: readonly Value[], rest: Rest) => Value;

/** The methods of Python's `str` that need nothing but their arguments. */
export const STRING_METHODS: ReadonlyMap<string, Callable> = new Map(Object.entries({
  upper: method([], (run, self) => made(run, self.toUpperCase())),
  lower: method([], (run, self) => made(run, self.toLowerCase())),
  casefold: method([], (run, self) => made(run, self.toLowerCase().replaceAll("ß", "ss"))),
  capitalize: method([], (run, self) => made(run, letters.capitalize(self))),
  title: method([], (run, self) => byChar(run, self, letters.titleCase)),
  swapcase: method([], (run, self) => byChar(run, self, letters.swapCase)),
  strip: method(["chars"], (_, self, [chars]) => strip(self, optionalText(chars, "chars"), "both")),
  lstrip: method(["chars"], (_, self, [chars]) => strip(self, optionalText(chars, "chars"), "left")),
  rstrip: method(["chars"], (_, self, [chars]) => strip(self, optionalText(chars, "chars"), "right")),
  removeprefix: method(["prefix"], (_, self, [prefix]) => {
    const start = text(prefix, "prefix");
    return self.startsWith(start) ? self.slice(start.length) : self;
  }, 1),
  removesuffix: method(["suffix"], (_, self, [suffix]) => {
    const end = text(suffix, "suffix");
    return end !== "" && self.endsWith(end) ? self.slice(0, -end.length) : self;
  }, 1),
  split: method(
    ["sep", "maxsplit"],
    (run, self, [sep, max]) =>
      texts.splitText(run, self, optionalText(sep, "sep"), integer(max, -1, "maxsplit"), false),
  ),
  rsplit: method(
    ["sep", "maxsplit"],
    (run, self, [sep, max]) =>
      texts.splitText(run, self, optionalText(sep, "sep"), integer(max, -1, "maxsplit"), true),
  ),
  splitlines: method(["keepends"], (run, self, [keep]) => splitLines(self, flag(run, keep, false))),
  partition: method(["sep"], (run, self, [sep]) => partition(run, self, text(sep, "sep"), false), 1),
  rpartition: method(["sep"], (run, self, [sep]) => partition(run, self, text(sep, "sep"), true), 1),
  join: method(["iterable"], (run, self, [iterable]) => {
    const parts = iterate(run, iterable).map((part) => {
      if (typeof part !== "string") throw new RenderFault(`join() wants strings, found ${typeName(part)}`);
      return part;
    });
    return texts.joinTexts(run, parts, self);
  }, 1),
  replace: method(
    ["old", "new", "count"],
    (run, self, [old, replacement, times]) =>
      texts.replaceText(run, self, text(old, "old"), text(replacement, "new"), integer(times, -1, "count")),
    2,
  ),
  startswith: method(
    ["prefix", "start", "end"],
    (_, self, args) => affix(self, args, (part, given) => part.startsWith(given)),
    1,
  ),
  endswith: method(
    ["suffix", "start", "end"],
    (_, self, args) => affix(self, args, (part, given) => part.endsWith(given)),
    1,
  ),
  find: method(["sub", "start", "end"], (run, self, args) => find(run, self, args, false), 1),
  rfind: method(["sub", "start", "end"], (run, self, args) => find(run, self, args, true), 1),
  index: method(["sub", "start", "end"], (run, self, args) => found(find(run, self, args, false)), 1),
  rindex: method(["sub", "start", "end"], (run, self, args) => found(find(run, self, args, true)), 1),
  count: method(["sub"], (run, self, [sub]) => texts.countText(run, self, text(sub, "sub")), 1),
  center: method(["width", "fillchar"], (run, self, args) => pad(run, self, args, "both"), 1),
  ljust: method(["width", "fillchar"], (run, self, args) => pad(run, self, args, "right"), 1),
  rjust: method(["width", "fillchar"], (run, self, args) => pad(run, self, args, "left"), 1),
  zfill: method(["width"], (run, self, [width]) => texts.zeroFill(run, self, count(width, 0, "width")), 1),
  expandtabs: method(
    ["tabsize"],
    (run, self, [size]) => texts.expandTabs(run, self, integer(size, 8, "tabsize")),
  ),
  format: {
    params: [],
    rest: true,
    apply: (run, self, _, rest) => made(run, formatBraces(run, String(self), rest)),
  },
  isalpha: method([], (_, self) => letters.isAlpha(self)),
  isalnum: method([], (_, self) => letters.isAlnum(self)),
  isdigit: method([], (_, self) => letters.isDecimal(self)),
  isdecimal: method([], (_, self) => letters.isDecimal(self)),
  isnumeric: method([], (_, self) => letters.isNumeric(self)),
  isascii: method([], (_, self) => letters.isAscii(self)),
  isidentifier: method([], (_, self) => letters.isIdentifier(self)),
  isprintable: method([], (_, self) => letters.isPrintable(self)),
  islower: method([], (_, self) => letters.isLower(self)),
  isupper: method([], (_, self) => letters.isUpper(self)),
  istitle: method([], (_, self) => letters.isTitle(self)),
  isspace: method([], (_, self) => self !== "" && strip(self, null, "both") === ""),
}));

function method(params: readonly string[], apply: Method, required = 0): Callable {
  return {
    params,
    required,
    apply: (run, self, args, rest) => {
      const own = String(self);
      spendSearch(run, own);
      return apply(run, own, args, rest);
    },
  };
}

function byChar(run: Run, self: string, change: (text: string) => string): string {
  spendChars(run, self);
  return made(run, change(self));
}

function partition(run: Run, self: string, separator: string, last: boolean): Value {
  const parts = texts.splitText(run, self, separator, 1, last);
  const [before = "", after] = parts;
  if (after !== undefined) return new Sequence("tuple", [before, separator, after]);
  return new Sequence("tuple", last ? ["", "", self] : [self, "", ""]);
}

function affix(
  self: string,
  args: readonly Value[],
  test: (part: string, given: string) => boolean,
): boolean {
  const [given, start, end] = args;
  const whole = (start === undefined || start === null) && (end === undefined || end === null);
  const length = whole ? 0 : charCount(self);
  const from = texts.clampIndex(integer(start ?? undefined, 0, "start"), length);
  const to = texts.clampIndex(integer(end ?? undefined, length, "end"), length);
  if (!whole && from > to) return false;
  const part = whole ? self : charSlice(self, from, to);
  const options = given instanceof Sequence && typeName(given) === "tuple" ? itemsOf(given) ?? [] : [given];
  return options.some((option) => test(part, text(option, "prefix or suffix")));
}

function find(run: Run, self: string, args: readonly Value[], last: boolean): number {
  const [sub, start, end] = args;
  return texts.findText(
    run,
    self,
    text(sub, "sub"),
    integer(start ?? undefined, 0, "start"),
    integer(end ?? undefined, Number.MAX_SAFE_INTEGER, "end"),
    last,
  );
}

function found(index: number): number {
  if (index < 0) throw new RenderFault("substring not found");
  return index;
}

function pad(run: Run, self: string, args: readonly Value[], side: "left" | "right" | "both"): string {
  return texts.padText(run, self, count(args[0], 0, "width"), anyText(run, args[1], " "), side);
}
