import type { z } from "zod";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { Finding } from "../errors/finding.ts";

/** Layers in the order in which hooks and composers add up. */
export const LAYERS = ["operator", "startup", "runtime", "agent", "session"] as const;
export type Layer = (typeof LAYERS)[number];

/** Keys and list indexes from a value down to a part of it. */
export type Path = readonly (string | number)[];

/** What a section's `compile` may ask and say. Paths are relative to the section's own value. */
export interface SectionContext {
  /**
   * The layer that holds the value. A value section is merged from several files: then the highest layer that sets
   * any of it, `startup` when none does.
   */
  layer: Layer;
  /** Absolute path of the control folder. */
  controlDir: string;
  /** Absolute path of the operator's home folder. */
  home: string;
  /** The layer that wrote the value at this path; `layer` where the path was not written by anyone. */
  layerOf(path: Path): Layer;
  /** A path of a configuration file made absolute: a leading `~/` is the home, the rest is below the control folder. */
  resolve(text: string): string;
  /** Reports and goes on. The finding stands at the value (or the key) at this path, or at the nearest thing above. */
  report(path: Path, code: ErrorCode, message: string, fix?: string, at?: "value" | "key"): void;
  /** The finding that `report` would add, for what only all layers together tell. */
  finding(path: Path, code: ErrorCode, message: string, fix?: string, at?: "value" | "key"): Finding;
}

/**
 * A top-level key whose values are merged: operator, then `reyn.yaml`, then `reyn.local.yaml`; maps deeply, scalars and
 * lists replace. `schema` gives shape, defaults and (through `authority`) trust, and is the source of the JSON
 * schema. `compile` checks what a schema cannot and makes the value ready for use; it is called once, with the schema's
 * output, and only when the schema found nothing.
 */
export interface Section<Value, Compiled> {
  kind: "value";
  key: string;
  schema: z.ZodType<Value>;
  layers: readonly ("operator" | "startup")[];
  /** Keys whose lists add up over the files instead of replacing one another. */
  adding?: readonly string[];
  compile(value: Value, context: SectionContext): Compiled;
}

/** One entry of a list section that its schema accepts; `index` counts all entries of the file from 0. */
export interface ListItem<Item> {
  index: number;
  value: Item;
}

/**
 * A top-level key that holds a list in several layers, which add up. `compile` is called once for each file that
 * holds the list, with the entries that the item schema accepts (unknown keys, which are reported, left out), so that
 * one bad entry does not hide what is wrong with the others. Paths that it reports begin with the entry's index.
 */
export interface ListSection<Item, Compiled> {
  kind: "list";
  key: string;
  item: z.ZodType<Item>;
  layers: readonly Layer[];
  compile(items: readonly ListItem<Item>[], context: SectionContext): Compiled;
}

/** A top-level key that is documented but whose part of reyn does not exist yet: refused by name. */
export interface NotYetSection {
  kind: "not_yet";
  key: string;
  /** What it belongs to, for the message: `permissions`. */
  part: string;
  /** The layers that will be able to hold it; in the others it is refused as every foreign key is. */
  layers: readonly Layer[];
}

export type AnySection = Section<unknown, unknown> | ListSection<unknown, unknown> | NotYetSection;

/**
 * Declares a value section. When no file sets the key (or leaves it empty), the schema is given `undefined`, so a
 * section that may be absent has a `.prefault({})`, `.default(…)` or `.optional()` schema.
 */
export function valueSection<Value, Compiled>(
  section: Omit<Section<Value, Compiled>, "kind" | "layers">,
): Section<Value, Compiled> {
  return { ...section, kind: "value", layers: ["operator", "startup"] };
}

/** Declares a list section. `layers` defaults to all. */
export function listSection<Item, Compiled>(
  section: Omit<ListSection<Item, Compiled>, "kind" | "layers"> & { layers?: readonly Layer[] },
): ListSection<Item, Compiled> {
  return { ...section, kind: "list", layers: section.layers ?? LAYERS };
}

/** Declares a key that does not exist yet. `layers` defaults to operator and startup. */
export function notYetSection(
  key: string,
  part: string,
  layers: readonly Layer[] = ["operator", "startup"],
): NotYetSection {
  return { kind: "not_yet", key, part, layers };
}
