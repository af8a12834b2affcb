import { fileSchema, type JsonSchema } from "../config/json_schema.ts";
import type { Layer } from "../config/section.ts";
import { configSections } from "./sections.ts";

/** The files that have a schema, by the name that `reyn schema --file` takes. */
export const SCHEMA_FILES = {
  startup: { layer: "startup", file: "reyn.yaml" },
  operator: { layer: "operator", file: "~/.reyn/config.yaml" },
  hooks: { layer: "runtime", file: ".reyn/config/hooks.yaml" },
  agent: { layer: "agent", file: "hooks.yaml of an agent" },
  session: { layer: "session", file: "hooks.yaml of a session" },
} as const satisfies Record<string, { layer: Layer; file: string }>;

export type SchemaFile = keyof typeof SCHEMA_FILES;

/** The JSON schema of one kind of file, from the sections that `reyn check` judges it by. */
export function schemaOf(name: SchemaFile): JsonSchema {
  const { layer, file } = SCHEMA_FILES[name];
  const { all } = configSections({ agent: "default", sid: "main" });
  return fileSchema(all, layer, `reyn: ${file}`);
}

/** As it is printed, and as `reyn init` writes it. */
export function schemaText(name: SchemaFile): string {
  return `${JSON.stringify(schemaOf(name), null, 2)}\n`;
}
