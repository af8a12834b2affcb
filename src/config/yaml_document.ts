import { isAlias, isMap, isNode, isPair, isScalar, isSeq, LineCounter } from "yaml";
import type { Finding, Place } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { formatPath, isMapping } from "./path.ts";
import { show } from "./scalars.ts";
import type { Path } from "./section.ts";
import { composeYaml, syntaxFinding } from "./yaml_syntax.ts";
import { plainValue } from "./yaml_value.ts";

/** Most findings that one file yields; one more says how many were left out. */
const MAX_FINDINGS = 50;

/** A YAML file as plain data, with the way back from the data to the text. */
export interface YamlDocument {
  /** Plain data; undefined when the file cannot be used, which `findings` then says. */
  value: unknown;
  findings: readonly Finding[];
  /** Where the value at this path stands; where there is none, what is nearest above it. A value that an alias gives stands at the alias. */
  locate(path: Path): Place;
  /** Where the key at this path stands (the last element of the path); as `locate` for a list entry. */
  locateKey(path: Path): Place;
}

/**
 * Parses YAML 1.2. The top level must be a mapping (or, where asked, a list); an empty file is an empty one. `file`
 * is the name that findings show. Never throws, whatever the text.
 */
export function parseYaml(text: string, file: string, top: "mapping" | "list" = "mapping"): YamlDocument {
  const lines = new LineCounter();
  const findings: Finding[] = [];
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const composed = composeYaml(text, lines);
  if (composed.state === "failed") {
    const there = place(composed.offset);
    return {
      value: undefined,
      findings: [finding(composed.code, composed.message, { place: there })],
      locate: () => there,
      locateKey: () => there,
    };
  }
  const doc = composed.document;
  for (const error of [...doc.errors, ...doc.warnings]) {
    findings.push(syntaxFinding(error, place(error.pos[0])));
  }
  const version = doc.directives?.yaml.version;
  if (version !== undefined && version !== "1.2" && version !== "next") {
    findings.push(
      finding("E_YAML_SYNTAX", "reyn reads YAML 1.2 only", { fix: "remove the %YAML line", place: place(0) }),
    );
  }
  if (composed.second !== undefined) {
    const rest = { fix: "remove the `---` line", place: place(composed.second) };
    findings.push(finding("E_YAML_SYNTAX", "the file holds more than one document", rest));
  }
  const { contents } = doc;
  const locate = (path: Path, at: "value" | "key") => place(offsetOf(contents, path, at));
  const done = (value: unknown): YamlDocument => ({
    value,
    findings: capped(findings, file),
    locate: (path) => locate(path, "value"),
    locateKey: (path) => locate(path, "key"),
  });
  // What a broken text seems to hold would only add findings that are not there.
  if (findings.some((f) => f.code === "E_YAML_SYNTAX")) return done(undefined);
  const value = plainValue(contents, ({ code, message, fix, path, node }) => {
    const subject = formatPath(path);
    const rest = {
      ...(subject ? { subject } : {}),
      ...(fix ? { fix } : {}),
      place: place(node.range?.[0] ?? 0),
    };
    findings.push(finding(code, message, rest));
  }) ?? (top === "list" ? [] : {});
  if (top === "list" ? Array.isArray(value) : isMapping(value)) return done(value);
  const form = top === "list" ? "a list" : "a mapping";
  findings.push(
    finding("E_CONFIG_TYPE", `the file must hold ${form}, got ${show(value)}`, {
      place: locate([], "value"),
    }),
  );
  return done(undefined);
}

function capped(findings: Finding[], file: string): Finding[] {
  findings.sort((a, b) => order(a.place) - order(b.place));
  const rest = findings.slice(MAX_FINDINGS);
  const last = rest[0]?.place ?? { file, line: 1, column: 1 };
  if (rest.length === 0) return findings;
  return [
    ...findings.slice(0, MAX_FINDINGS),
    finding("E_YAML_SYNTAX", `${rest.length} more findings in this file are not shown`, { place: last }),
  ];
}

function order(place: Place | undefined): number {
  return place ? place.line * 2 ** 21 + place.column : 0;
}

function offsetOf(root: unknown, path: Path, at: "value" | "key"): number {
  let node: unknown = root;
  let offset = start(node) ?? 0;
  for (const [i, key] of path.entries()) {
    const last = i === path.length - 1;
    if (isMap(node)) {
      // Of a key given twice the later one counts.
      const pair = node.items.findLast((item) =>
        isPair(item) && isScalar(item.key) && item.key.value === key
      );
      if (!pair) break;
      const keyOffset = start(pair.key) ?? offset;
      if (last && at === "key") return keyOffset;
      // An empty value has no place of its own.
      offset = isEmpty(pair.value) ? keyOffset : start(pair.value) ?? keyOffset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === "number") {
      const item: unknown = node.items[key];
      if (item === undefined) break;
      offset = start(item) ?? offset;
      node = item;
    } else break;
    if (isAlias(node)) break;
  }
  return offset;
}

function start(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function isEmpty(value: unknown): boolean {
  if (!isNode(value)) return true;
  const { range } = value;
  return !range || range[0] === range[1];
}
