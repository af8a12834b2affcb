import { z } from "zod";
import { isMapping } from "./path.ts";
import type { Path } from "./section.ts";

/** One step of a walk: a schema, the value that it judges, and where that is. */
export interface Step {
  schema: z.core.$ZodType;
  value: unknown;
  path: Path;
  /** The default that stands when the value is absent, as the schema's output. */
  fallback: unknown;
}

/**
 * Walks a raw value together with its schema, wrappers and union branches included, and calls `visit` at each step;
 * `visit` returns false to go no deeper. A union is walked along every branch that accepts the value, along all
 * when none does. Parts for which no schema stands (unknown keys) are not visited.
 */
export function walkSchema(start: z.core.$ZodType, value: unknown, visit: (step: Step) => boolean): void {
  walk({ schema: start, value, path: [], fallback: undefined }, visit);
}

function walk(step: Step, visit: (step: Step) => boolean): void {
  if (step.value === undefined || !visit(step)) return;
  const { value, path } = step;
  const def = (step.schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "nonoptional":
    case "readonly":
    case "catch":
    case "success":
      return walk({ ...step, schema: def.innerType }, visit);
    case "default":
      return walk({ ...step, schema: def.innerType, fallback: def.defaultValue }, visit);
    case "prefault":
      return walk(
        { ...step, schema: def.innerType, fallback: outputOf(def.innerType, def.defaultValue) },
        visit,
      );
    case "pipe":
      return walk({ ...step, schema: def.in }, visit);
    case "lazy":
      return walk({ ...step, schema: def.getter() }, visit);
    case "intersection":
      walk({ ...step, schema: def.left }, visit);
      return walk({ ...step, schema: def.right }, visit);
    case "union": {
      const accepting = def.options.filter((option) => z.safeParse(option, value).success);
      for (const schema of accepting.length > 0 ? accepting : def.options) walk({ ...step, schema }, visit);
      return;
    }
    case "object":
      if (!isMapping(value)) return;
      for (const key of Object.keys(value)) {
        const schema = Object.hasOwn(def.shape, key) ? def.shape[key] : def.catchall;
        if (schema) walk(below(step, schema, key, value[key]), visit);
      }
      return;
    case "record":
      if (!isMapping(value)) return;
      for (const key of Object.keys(value)) walk(below(step, def.valueType, key, value[key]), visit);
      return;
    case "array":
      if (!Array.isArray(value)) return;
      value.forEach((item: unknown, i) =>
        walk({ schema: def.element, value: item, path: [...path, i], fallback: undefined }, visit)
      );
      return;
    case "tuple":
      if (!Array.isArray(value)) return;
      value.forEach((item: unknown, i) => {
        const schema = def.items[i] ?? def.rest;
        if (schema) walk({ schema, value: item, path: [...path, i], fallback: undefined }, visit);
      });
      return;
    default:
      return;
  }
}

/** The fallback of a key below a default value is that value's own part. */
function below(step: Step, schema: z.core.$ZodType, key: string, value: unknown): Step {
  const fallback = isMapping(step.fallback) ? step.fallback[key] : undefined;
  return { schema, value, path: [...step.path, key], fallback };
}

/** What the schema makes of an input; undefined when it refuses it. */
export function outputOf(schema: z.core.$ZodType, input: unknown): unknown {
  const result = z.safeParse(schema, input);
  return result.success ? result.data : undefined;
}
