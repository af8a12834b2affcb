import type { z } from "zod";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { Finding } from "../errors/finding.ts";

/** Layers in the order in which hooks and composers add up. */
export const LAYERS = ["operator", "startup", "runtime", "agent", "session"] as const;
export type Layer = (typeof LAYERS)[number];

export type Path = readonly (string | number)[];

/** What a section's `compile` may ask and say. Paths are relative to the section's own value. */
export interface SectionContext {
  layer: Layer;
  /** Absolute path of the control folder. */
  controlDir: string;
  /** Absolute path of the file that holds the value at this path, for files the value refers to. */
  report(path: Path, code: ErrorCode, message: string, fix?: string): void;
}

/**
 * One top-level key of a configuration file. `schema` gives shape, defaults and (through `authority`) trust; it is
 * also the source of the JSON schema. `compile` checks what a schema cannot and makes the value ready for use; it
 * reports and goes on, so that all findings come at once.
 */
export interface Section<Input, Compiled> {
  key: string;
  schema: z.ZodType<Input>;
  /** The layers that may hold this key. */
  layers: readonly Layer[];
  compile(value: Input, context: SectionContext): Compiled;
}

export interface Findings {
  readonly findings: readonly Finding[];
}
