import type { z } from "zod";
import { quote } from "../errors/quote.ts";
import { marksOf } from "./marks.ts";
import type { Path } from "./section.ts";
import { walkSchema } from "./walk_schema.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export type Expanded =
  | { state: "text"; text: string; /** Names of the variables that it reads. */ names: readonly string[] }
  | { state: "failed"; code: "E_ENV_UNSET" | "E_ENV_SYNTAX"; message: string; fix: string };

const REFERENCE = /\$\$|\$\{([^}]*)(\}?)/g;
const BODY = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;
const FORMS = "write ${NAME} or ${NAME:-default}, $$ for a plain $";

/**
 * Puts in environment variables: `${NAME}` (an error when unset), `${NAME:-default}` (the default when unset or empty), `$$`
 * for one `$`. Any other `$` is plain text. What a variable holds is not expanded again.
 */
export function expandText(text: string, env: Env): Expanded {
  const names: string[] = [];
  let failure: Expanded | undefined;
  const result = text.replace(
    REFERENCE,
    (whole: string, inner: string | undefined, end: string | undefined) => {
      if (inner === undefined) return "$";
      const [, name, fallback] = BODY.exec(inner) ?? [];
      if (name === undefined || end !== "}" || fallback?.includes("${")) {
        failure ??= {
          state: "failed",
          code: "E_ENV_SYNTAX",
          message: `${quote(whole)} is malformed`,
          fix: FORMS,
        };
        return "";
      }
      names.push(name);
      const value: unknown = env[name];
      if (typeof value === "string" && (value !== "" || fallback === undefined)) return value;
      if (fallback !== undefined) return fallback;
      const fix = `set it, or write \${${name}:-default}`;
      failure ??= { state: "failed", code: "E_ENV_UNSET", message: `the variable ${name} is not set`, fix };
      return "";
    },
  );
  return failure ?? { state: "text", text: result, names };
}

export interface EnvUse {
  path: Path;
  expanded: Expanded;
}

/**
 * Copies a raw value with its strings expanded, but for the parts that the schema marks raw, and lists every string
 * that held a reference. A string that fails, or that `keep` asks to leave alone, stays as it was.
 */
export function expandValue(
  schema: z.core.$ZodType,
  value: unknown,
  env: Env,
  keep: (expanded: Expanded) => boolean = () => false,
): { value: unknown; uses: EnvUse[] } {
  const rawPaths = new Set<string>();
  walkSchema(schema, value, (step) => {
    if (!marksOf(step.schema).raw) return true;
    rawPaths.add(JSON.stringify(step.path));
    return false;
  });
  const uses: EnvUse[] = [];
  const expand = (part: unknown, path: Path): unknown => {
    if (typeof part === "string") {
      if (!part.includes("$") || rawPaths.has(JSON.stringify(path))) return part;
      const expanded = expandText(part, env);
      if (expanded.state === "failed" || expanded.text !== part) uses.push({ path, expanded });
      return expanded.state === "failed" || keep(expanded) ? part : expanded.text;
    }
    if (typeof part !== "object" || part === null || rawPaths.has(JSON.stringify(path))) return part;
    if (Array.isArray(part)) return part.map((item: unknown, i) => expand(item, [...path, i]));
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, expand(item, [...path, key])]));
  };
  return { value: expand(value, []), uses };
}
