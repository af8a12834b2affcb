const MOST_LINES = 40;
const LONGEST_LINE = 300;

/** The end of a text, indented, with control characters made visible. */
export function tail(text: string): string {
  if (text === "") return "    (empty)";
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const left = lines.length - MOST_LINES;
  return [
    ...(left > 0 ? [`    (${left} lines before)`] : []),
    ...lines.slice(-MOST_LINES).map((line) => `    ${visible(line)}`),
  ]
    .join("\n");
}

/** Lines of `wanted` marked `-` and of `actual` marked `+` where they differ, with the same ones around. */
export function diffLines(wanted: string, actual: string): string {
  const [left, right] = [wanted.split("\n"), actual.split("\n")];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  while (
    end < left.length - start && end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  ) end++;
  const same = (lines: readonly string[]) => lines.map((line) => `      ${visible(line)}`);
  const marked = (mark: string, lines: readonly string[]) => [
    ...lines.slice(0, MOST_LINES).map((line) => `    ${mark} ${visible(line)}`),
    ...(lines.length > MOST_LINES ? [`    ${mark} (${lines.length - MOST_LINES} more)`] : []),
  ];
  return [
    ...same(left.slice(Math.max(0, start - 2), start)),
    ...marked("-", left.slice(start, left.length - end)),
    ...marked("+", right.slice(start, right.length - end)),
    ...same(left.slice(left.length - end).slice(0, 2)),
  ].join("\n");
}

function visible(line: string): string {
  let shown = "";
  for (const char of line.slice(0, LONGEST_LINE)) {
    const code = char.codePointAt(0) ?? 0;
    shown += code < 0x20 && char !== "\t" || code === 0x7f
      ? `\\x${code.toString(16).padStart(2, "0")}`
      : char;
  }
  return line.length > LONGEST_LINE ? `${shown}… (${line.length} characters)` : shown;
}
