import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { loadConfiguration } from "../../src/config/load_layers.ts";
import { parseYaml } from "../../src/config/yaml_document.ts";
import { formatFinding } from "../../src/errors/finding.ts";
import { SCHEMA_FILES, type SchemaFile, schemaOf } from "../../src/runtime/schema_files.ts";
import { configSections } from "../../src/runtime/sections.ts";

/** Codes of what the form of a single value decides; all else depends on other keys, files or the disk. */
const OF_FORM = new Set([
  "E_CONFIG_TYPE",
  "E_CONFIG_MISSING",
  "E_KEY_UNKNOWN",
  "E_KEY_NOT_YET",
  "E_KEY_LAYER",
]);

const PATHS: Readonly<Record<SchemaFile, string>> = {
  startup: "control/reyn.yaml",
  operator: "home/.reyn/config.yaml",
  hooks: "control/.reyn/config/hooks.yaml",
  agent: "control/.reyn/agents/default/hooks.yaml",
  session: "control/.reyn/agents/default/state/hooks.yaml",
};

/** What a configuration file is to reyn itself: each error about its form, as the operator reads it. */
export function errorsOfReyn(file: SchemaFile, text: string, env: Record<string, string> = {}): string[] {
  const root = mkdtempSync(join(tmpdir(), "reyn-schema-"));
  try {
    const path = join(root, PATHS[file]);
    mkdirSync(join(root, "control"));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const { findings } = loadConfiguration({
      controlDir: join(root, "control"),
      home: join(root, "home"),
      env,
      agent: "default",
      session: "main",
      sections: configSections({ agent: "default", sid: "main" }).all,
      judge: () => ({ state: "trusted" }),
    });
    return findings.filter(({ code }) => OF_FORM.has(code)).map(formatFinding);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
const validators = new Map<SchemaFile, ReturnType<typeof ajv.compile>>();

/** What the same file is to an editor that has the schema; undefined where the text is no mapping. */
export function errorsOfSchema(file: SchemaFile, text: string): string[] | undefined {
  const { value, findings } = parseYaml(text, SCHEMA_FILES[file].file);
  if (value === undefined || findings.length > 0) return undefined;
  const validate = validators.get(file) ?? ajv.compile(schemaOf(file));
  validators.set(file, validate);
  const valid = validate(value) === true;
  return valid ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}
