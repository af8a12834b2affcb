import { z } from "zod";
import { marksOf } from "./marks.ts";
import { isMapping } from "./path.ts";
import { notYet } from "./refusal.ts";
import type { AnySection, Layer } from "./section.ts";

export type JsonSchema = Record<string, unknown>;

/** Text that holds a variable; what it becomes is not for a schema to say. */
const VARIABLE: JsonSchema = {
  type: "string",
  pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}",
  description: "${NAME} or ${NAME:-default}",
};

/** Marks, while it is made, what takes `${NAME}` as plain text. */
const RAW = "x-raw";
/** What says something about a schema without being a condition. */
const ANNOTATIONS = ["title", "description", "default", "examples"];

/**
 * The JSON schema (draft 2020-12) of a configuration file of one layer, made from the sections by which the file is
 * judged. What depends on other files or on more than one key is left to `reyn check`: it refuses nothing that reyn takes.
 */
export function fileSchema(sections: readonly AnySection[], layer: Layer, title: string): JsonSchema {
  const shape: Record<string, z.ZodType> = {};
  const merged = new Set<string>();
  for (const section of sections) {
    if (!(section.layers as readonly Layer[]).includes(layer)) continue;
    if (section.kind === "value") merged.add(section.key);
    // A key without a value counts as absent.
    shape[section.key] = section.kind === "not_yet"
      ? notYet(section.key, section.part)
      : (section.kind === "value" ? section.schema : z.array(section.item)).nullable().optional();
  }
  const made: JsonSchema = z.toJSONSchema(z.strictObject(shape), {
    target: "draft-2020-12",
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      if (marksOf(zodSchema).raw) Object.assign(jsonSchema, { [RAW]: true });
    },
  });
  const expands = layer === "operator" || layer === "startup";
  const properties = mapValues(part(made, "properties"), (node, key) => {
    const open = merged.has(key) ? withoutRequired(node) : node;
    return unmarked(expands ? withVariables(open) : open);
  });
  const { $schema, ...rest } = made;
  return {
    $schema,
    title,
    ...rest,
    ...unmarked(part(made, "$defs") ? { $defs: made["$defs"] } : {}),
    properties,
  };
}

/** Another file may give what is missing here: mappings merge. Entries of lists stand alone. */
function withoutRequired(node: JsonSchema): JsonSchema {
  const { required: _required, ...rest } = node;
  return withParts(rest, withoutRequired, { items: false });
}

/** The same schema that also takes a variable wherever a single value stands. */
function withVariables(node: JsonSchema): JsonSchema {
  if (node[RAW] === true) return node;
  if (!isSingle(node)) return withParts(node, withVariables);
  if (takesAnyText(node)) return node;
  const about = Object.fromEntries(Object.entries(node).filter(([key]) => ANNOTATIONS.includes(key)));
  const condition = Object.fromEntries(Object.entries(node).filter(([key]) => !ANNOTATIONS.includes(key)));
  const options = Array.isArray(condition["anyOf"]) ? condition["anyOf"] as unknown[] : [condition];
  return { ...about, anyOf: [...options, VARIABLE] };
}

/** Numbers, truth values, words and forms of text: not lists, not mappings, not what is refused altogether. */
function isSingle(node: JsonSchema): boolean {
  const { anyOf, type, not } = node;
  if (Array.isArray(anyOf)) {
    return anyOf.every((option) => isMapping(option) && (option["type"] === "null" || isSingle(option)));
  }
  const types = Array.isArray(type) ? type : [type];
  // Nothing is no value: it stands where a list or a mapping may be left out.
  return not === undefined && type !== undefined && type !== "null" && !types.includes("object") &&
    !types.includes("array");
}

function takesAnyText(node: JsonSchema): boolean {
  const { anyOf, type } = node;
  if (Array.isArray(anyOf)) return anyOf.some((option) => isMapping(option) && takesAnyText(option));
  const isText = (Array.isArray(type) ? type : [type]).includes("string");
  const pattern = node["pattern"] ?? "\\S";
  return isText && pattern === "\\S" && ["enum", "const", "maxLength"].every((key) => !(key in node));
}

/** A copy of the schema with each schema right below it replaced. */
function withParts(
  node: JsonSchema,
  replace: (part: JsonSchema) => JsonSchema,
  { items = true } = {},
): JsonSchema {
  const copy = { ...node };
  for (const key of ["additionalProperties", ...items ? ["items"] : []]) {
    const below = node[key];
    if (isMapping(below)) copy[key] = replace(below);
  }
  if (isMapping(node["properties"])) copy["properties"] = mapValues(node["properties"], replace);
  const { anyOf } = node;
  if (Array.isArray(anyOf)) {
    copy["anyOf"] = anyOf.map((option: unknown) => isMapping(option) ? replace(option) : option);
  }
  return copy;
}

function unmarked(node: JsonSchema): JsonSchema {
  const text = JSON.stringify(node, (key, value: unknown) => key === RAW ? undefined : value);
  return JSON.parse(text) as JsonSchema;
}

function part(node: JsonSchema, key: string): JsonSchema {
  const below = node[key];
  return isMapping(below) ? below : {};
}

function mapValues(
  map: Record<string, unknown>,
  replace: (node: JsonSchema, key: string) => JsonSchema,
): JsonSchema {
  return Object.fromEntries(
    Object.entries(map).map(([key, node]) => [key, isMapping(node) ? replace(node, key) : node]),
  );
}
