import type { ErrorCode } from "../errors/catalogue.ts";
import type { Finding } from "../errors/finding.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { findingAt, type LoadedFile } from "./load_file.ts";
import type { AnySection, Layer, ListSection, Path, Section } from "./section.ts";

/** The list that one layer holds, compiled. */
export interface LayerValue<Compiled> {
  layer: Layer;
  /** Absolute path of the file. */
  path: string;
  /** The file as findings show it. */
  shown: string;
  value: Compiled;
  /** A finding about a part of the list, for what only the layers together tell; the path begins with an entry's index. */
  finding(path: Path, code: ErrorCode, message: string, fix?: string, at?: "value" | "key"): Finding;
}

/** The compiled configuration, asked for by section. */
export interface Values {
  /** The value of a section; its default when no file sets it. Throws E_INTERNAL when the section has findings. */
  get<Compiled>(section: Section<unknown, Compiled>): Compiled;
  /** As `get`, but undefined when the section has findings. */
  find<Compiled>(section: Section<unknown, Compiled>): Compiled | undefined;
  /** The lists of a section that are usable, in the order of the layers; none for a layer that holds none. */
  list<Compiled>(section: ListSection<unknown, Compiled>): readonly LayerValue<Compiled>[];
}

export interface ValuesBuilder extends Values {
  set(section: AnySection, value: unknown): void;
  add(section: AnySection, file: LoadedFile, value: unknown): void;
}

export function createValues(): ValuesBuilder {
  const single = new Map<AnySection, { value: unknown }>();
  const lists = new Map<AnySection, LayerValue<unknown>[]>();
  return {
    set: (section, value) => void single.set(section, { value }),
    add(section, { layer, path, shown, document }, value) {
      const finding: LayerValue<unknown>["finding"] = (at, code, message, fix, side = "value") =>
        findingAt({ document, shown }, [section.key, ...at], code, message, { fix, at: side });
      const list = lists.get(section) ?? [];
      list.push({ layer, path, shown, value, finding });
      lists.set(section, list);
    },
    get<Compiled>(section: Section<unknown, Compiled>) {
      const held = single.get(section);
      if (!held) throw new ReynError("E_INTERNAL", `section ${section.key} was asked for but is not usable`);
      return held.value as Compiled;
    },
    find: <Compiled>(section: Section<unknown, Compiled>) =>
      single.get(section)?.value as Compiled | undefined,
    list: <Compiled>(section: ListSection<unknown, Compiled>) =>
      (lists.get(section) ?? []) as LayerValue<Compiled>[],
  };
}
