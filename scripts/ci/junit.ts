export interface TestResult {
  /** Names from the outermost suite inwards, joined by ` > `. */
  name: string;
  outcome: "passed" | "failed" | "skipped";
}

interface Entry extends TestResult {
  /** Path of the suites around it, as the report nests them. */
  suites: string[];
}

/** The tests in the JUnit report of `deno test`, where a suite appears as a test of its own beside those in it. */
export function readDenoReport(xml: string): TestResult[] {
  const entries = readEntries(xml);
  const names = entries.map((entry) => entry.name);
  const isSuite = (name: string) => names.some((other) => other.startsWith(`${name} > `));
  const failedBelow = (name: string) =>
    entries.some((entry) => entry.outcome === "failed" && entry.name.startsWith(`${name} > `));
  return entries
    .filter((entry) => !isSuite(entry.name) || (entry.outcome === "failed" && !failedBelow(entry.name)))
    .map(({ name, outcome }) => ({ name, outcome }));
}

/** The tests in the JUnit report of `bun test`, where suites nest and the outermost is the file. */
export function readBunReport(xml: string): TestResult[] {
  return readEntries(xml).map(({ name, outcome, suites }) => ({
    name: [...suites.slice(1), name].join(" > "),
    outcome,
  }));
}

function readEntries(xml: string): Entry[] {
  const entries: Entry[] = [];
  const suites: string[] = [];
  let open: Entry | undefined;
  for (
    const [, closing, tag, attributes = "", empty] of xml.matchAll(/<(\/?)([a-z]+)((?:\s[^<>]*?)?)(\/?)>/g)
  ) {
    if (tag === "testsuite") {
      if (closing) suites.pop();
      else if (!empty) suites.push(nameOf(attributes));
    } else if (tag === "testcase") {
      if (closing) open = undefined;
      else {
        open = { name: nameOf(attributes), outcome: "passed", suites: [...suites] };
        entries.push(open);
        if (empty) open = undefined;
      }
    } else if (open && !closing && (tag === "failure" || tag === "error")) open.outcome = "failed";
    else if (open && !closing && tag === "skipped" && open.outcome === "passed") open.outcome = "skipped";
  }
  return entries;
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function nameOf(attributes: string): string {
  const raw = /\sname="([^"]*)"/.exec(attributes)?.[1] ?? "";
  return raw.replace(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex, decimal, named) => {
    if (hex) return String.fromCodePoint(parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return ENTITIES[named] ?? whole;
  });
}

/** What one list holds more often than the other, by name. */
export function missingFrom(list: readonly TestResult[], other: readonly TestResult[]): string[] {
  const left = new Map<string, number>();
  for (const { name } of other) left.set(name, (left.get(name) ?? 0) + 1);
  return list.map(({ name }) => name).filter((name) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}
