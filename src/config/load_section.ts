import { resolveControlPath } from "./authority.ts";
import { checkValue, type ValueIssue } from "./check_value.ts";
import { addFinding, errorCount, findingAt, type LoadedFile } from "./load_file.ts";
import { mergeValues, ownerOf } from "./merge.ts";
import { formatPath, isMapping } from "./path.ts";
import { type Prepared, prepareValue, type Surroundings } from "./prepare_value.ts";
import { show } from "./scalars.ts";
import type { ListItem, ListSection, Path, Section, SectionContext } from "./section.ts";

/** What a section came to; `usable` is false when anything in it is refused. */
export type Outcome<Compiled> = { usable: true; value: Compiled } | { usable: false };

interface Source extends Prepared {
  file: LoadedFile;
}

/**
 * Merges a value section from the files that set it, judges and compiles it. Each finding goes to the file that wrote
 * the value in question; `files` are in the order in which they are laid over one another, `fallbackFile` takes
 * what no file wrote.
 */
export function loadValueSection<Value, Compiled>(
  section: Section<Value, Compiled>,
  files: readonly LoadedFile[],
  fallbackFile: LoadedFile,
  around: Surroundings,
): Outcome<Compiled> {
  const { key, schema } = section;
  const count = () => files.reduce((sum, file) => sum + errorCount(file), errorCount(fallbackFile));
  const before = count();
  const operator = files.find((file) => file.layer === "operator")?.values[key];
  const sources: Source[] = files
    .filter((file) => file.values[key] !== undefined)
    .map((file) => ({ file, ...prepareValue(file, [key], schema, file.values[key], around, operator) }));
  const owner = (path: Path) => ownerOf(sources, path);
  // What one file sets wrong stays wrong when another hides it.
  if (sources.length > 1) {
    for (const source of sources) {
      const checked = checkValue(schema, source.value);
      if (!checked.ok) {
        addIssues(
          source.file,
          [key],
          checked.issues.filter((issue) => issue.certain),
          source.settled,
        );
      }
    }
  }
  const checked = checkValue(schema, mergeValues(sources.map((source) => source.value), section.adding));
  if (!checked.ok) {
    for (const issue of checked.issues) {
      const source = owner(issue.placeAt);
      addIssues(source?.file ?? fallbackFile, [key], [issue], source?.settled);
    }
    return { usable: false };
  }
  if (sources.some((source) => !source.trusted)) return { usable: false };
  const layer = sources.at(-1)?.file.layer ?? "startup";
  const context: SectionContext = {
    ...contextBase(around),
    layer,
    layerOf: (path) => owner(path)?.file.layer ?? layer,
    report: (path, code, message, fix, at) =>
      addFinding(owner(path)?.file ?? fallbackFile, [key, ...path], code, message, { fix, at }),
    finding: (path, code, message, fix, at) =>
      findingAt(owner(path)?.file ?? fallbackFile, [key, ...path], code, message, { fix, at }),
  };
  const value = section.compile(checked.value, context);
  return count() === before ? { usable: true, value } : { usable: false };
}

/** Judges and compiles the list that one file holds; undefined when it holds none. */
export function loadListSection<Item, Compiled>(
  section: ListSection<Item, Compiled>,
  file: LoadedFile,
  around: Surroundings,
): Outcome<Compiled> & { entries: number } | undefined {
  const { key } = section;
  const list = file.values[key];
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) {
    addFinding(file, [key], "E_CONFIG_TYPE", `must be a list, got ${show(list)}`);
    return { usable: false, entries: 0 };
  }
  const before = errorCount(file);
  const items: ListItem<Item>[] = [];
  list.forEach((entry: unknown, index) => {
    const { value, settled, trusted } = prepareValue(file, [key, index], section.item, entry, around);
    const checked = checkValue(section.item, value);
    if (!checked.ok) addIssues(file, [key, index], checked.issues, settled);
    // A key that nothing knows hides nothing of what is wrong with the others.
    const usable = checked.ok ? checked : checkValue(section.item, withoutUnknown(value, checked.issues));
    if (usable.ok && trusted) items.push({ index, value: usable.value });
  });
  const context: SectionContext = {
    ...contextBase(around),
    layer: file.layer,
    layerOf: () => file.layer,
    report: (path, code, message, fix, at) => addFinding(file, [key, ...path], code, message, { fix, at }),
    finding: (path, code, message, fix, at) => findingAt(file, [key, ...path], code, message, { fix, at }),
  };
  const value = section.compile(items, context);
  const entries = list.length;
  return errorCount(file) === before ? { usable: true, value, entries } : { usable: false, entries };
}

function contextBase(
  { controlDir, home }: Surroundings,
): Pick<SectionContext, "controlDir" | "home" | "resolve"> {
  return { controlDir, home, resolve: (text) => resolveControlPath(text, controlDir, home) };
}

function addIssues(
  file: LoadedFile,
  base: Path,
  issues: readonly ValueIssue[],
  settled: ReadonlySet<string> = new Set(),
): void {
  for (const { path, placeAt, code, message, ...rest } of issues) {
    if (settled.has(JSON.stringify(path))) continue;
    addFinding(file, [...base, ...placeAt], code, message, {
      ...rest,
      subject: formatPath([...base, ...path]),
    });
  }
}

function withoutUnknown(value: unknown, issues: readonly ValueIssue[]): unknown {
  return issues.reduce(
    (rest, { code, placeAt }) => code === "E_KEY_UNKNOWN" ? without(rest, placeAt) : rest,
    value,
  );
}

/** A copy of the value that lacks the key at this path. */
function without(value: unknown, [key, ...below]: Path): unknown {
  if (Array.isArray(value)) return value.map((item: unknown, i) => i === key ? without(item, below) : item);
  if (!isMapping(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== key || below.length > 0);
  return Object.fromEntries(kept.map(([name, item]) => [name, name === key ? without(item, below) : item]));
}
