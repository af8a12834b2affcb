import {
  type Alias,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import type { Path } from "./section.ts";

/** Deepest nesting of maps and lists. */
export const MAX_DEPTH = 64;
/** Most values that all aliases of a file together may stand for. */
export const MAX_ALIASED_VALUES = 10_000;

export interface YamlProblem {
  code: ErrorCode;
  message: string;
  fix?: string;
  /** Path of what holds it. */
  path: Path;
  node: Node;
}

/**
 * Turns a document's nodes into plain data and reports what YAML allows but a configuration does not: keys given
 * twice or that are not text, merge keys, aliases that recurse or multiply, deep nesting, numbers that cannot be
 * kept exactly (those become NaN). Each alias yields a copy of its own.
 */
export function plainValue(root: Node | null, report: (problem: YamlProblem) => void): unknown {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node | undefined>();
  const open = new Set<Node>();
  let aliased = 0;
  let aliasDepth = 0;

  function convert(node: unknown, path: Path, depth: number): unknown {
    if (aliasDepth > 0) aliased++;
    if (isAlias(node)) return follow(node, path, depth);
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return null;
    if (node.anchor !== undefined && aliasDepth === 0) anchors.set(node.anchor, node);
    if (isScalar(node)) return scalar(node, path);
    if (depth >= MAX_DEPTH) {
      report({
        code: "E_YAML_DEPTH",
        message: `is nested more than ${MAX_DEPTH} deep`,
        path: path.slice(0, 2),
        node,
      });
      return null;
    }
    open.add(node);
    const value = isMap(node) ? mapping(node, path, depth + 1) : list(node, path, depth + 1);
    open.delete(node);
    return value;
  }

  function list(node: YAMLSeq, path: Path, depth: number): unknown[] {
    return node.items.map((item, i) => convert(item, [...path, i], depth));
  }

  function mapping(node: YAMLMap, path: Path, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const key = keyOf(pair.key, node, path, result);
      const value = convert(pair.value, key === undefined ? path : [...path, key], depth);
      if (key !== undefined) result[key] = value;
    }
    return result;
  }

  /** The key as text; undefined when it cannot be used, which is reported. */
  function keyOf(key: unknown, map: YAMLMap, path: Path, seen: Record<string, unknown>): string | undefined {
    const node = isScalar(key) || isMap(key) || isSeq(key) || isAlias(key) ? key : map;
    if (!isScalar(key) || typeof key.value !== "string") {
      const text = isScalar(key) ? String(key.source ?? key.value) : "";
      const fix = key === node && isScalar(key) && key.value === true
        ? "write `on`, if that is what a YAML 1.1 tool made `true` of"
        : text === ""
        ? "keys are plain text"
        : `keys are text; quote it if it is meant: ${quote(text)}`;
      const message = text === "" ? "a key that is not text" : `unknown key ${text}`;
      report({ code: "E_KEY_UNKNOWN", message, fix, path, node });
      return undefined;
    }
    const name = key.value;
    if (isScalar(key) && key.anchor !== undefined && aliasDepth === 0) anchors.set(key.anchor, key);
    if (name === "<<" || name === "__proto__") {
      const fix = name === "<<" ? "YAML 1.2 has no merge keys; write the keys out" : undefined;
      report({
        code: "E_KEY_UNKNOWN",
        message: `unknown key ${quote(name)}`,
        ...(fix ? { fix } : {}),
        path,
        node,
      });
      return undefined;
    }
    if (Object.hasOwn(seen, name) && aliasDepth === 0) {
      report({ code: "E_YAML_DUPLICATE_KEY", message: `the key ${quote(name)} is given twice`, path, node });
    }
    return name;
  }

  function follow(alias: Alias, path: Path, depth: number): unknown {
    if (!targets.has(alias)) targets.set(alias, anchors.get(alias.source));
    const target = targets.get(alias);
    const name = quote(alias.source);
    if (!target || open.has(target)) {
      const message = target
        ? `the alias ${name} is inside of what it stands for`
        : `no anchor ${name} stands before this alias`;
      report({ code: "E_YAML_ALIAS", message, path, node: alias });
      return null;
    }
    if (aliased > MAX_ALIASED_VALUES) return null;
    aliasDepth++;
    const value = convert(target, path, depth);
    aliasDepth--;
    if (aliasDepth === 0 && aliased > MAX_ALIASED_VALUES) {
      const message = `aliases stand for more than ${MAX_ALIASED_VALUES} values`;
      report({ code: "E_YAML_ALIAS", message, path, node: alias });
    }
    return value;
  }

  function scalar(node: Scalar, path: Path): unknown {
    const { value } = node;
    if (typeof value !== "number") return value;
    const text = node.source ?? String(value);
    if (!Number.isFinite(value)) {
      report({ code: "E_CONFIG_TYPE", message: `must be a finite number, got ${text}`, path, node });
      return NaN;
    }
    if (!Number.isSafeInteger(value) && /^[-+]?(\d+|0[xo][\da-f]+)$/i.test(text)) {
      const message = `the number ${text.slice(0, 40)} is beyond what can be kept exactly`;
      report({ code: "E_CONFIG_TYPE", message, fix: "quote it if it is text", path, node });
      return NaN;
    }
    return value;
  }

  return convert(root, [], 0);
}
