import { quote } from "../../errors/quote.ts";
import { OFFERED, type Signature, type ValueType, WASI_MODULE } from "./abi.ts";
import {
  type Limits,
  Malformed,
  type Reader,
  reader,
  readLimits,
  readReferenceType,
  SECTION,
  sections,
} from "./binary.ts";
import {
  MOST_EXPORTS,
  MOST_FUNCTIONS,
  MOST_IMPORTS,
  MOST_MODULE_BYTES,
  MOST_TABLE_ENTRIES,
  MOST_TABLES,
  MOST_TYPES,
  PAGE_BYTES,
} from "./limits.ts";
import { OWN_EXPORT_PREFIX } from "./rewrite_module.ts";

/** What a module declares, read from its bytes; nothing is compiled or run. */
export interface ModuleInfo {
  /** Names of exported functions that can be called: without parameters, with an i32 as result or nothing. */
  callable: readonly string[];
  exports: readonly string[];
  usesWasi: boolean;
  usesHttp: boolean;
  /** Of its one memory, in bytes; 0 for none. */
  initialMemoryBytes: number;
}

export type Inspection = { ok: true; info: ModuleInfo } | { ok: false; reason: string };

type FunctionType = Signature | undefined;

interface Import {
  module: string;
  name: string;
  kind: "function" | "table" | "memory" | "global" | "tag";
  type?: FunctionType;
  limits?: Limits;
}

const VALUE_TYPES: Readonly<Record<number, ValueType>> = {
  0x7f: "i32",
  0x7e: "i64",
  0x7d: "f32",
  0x7c: "f64",
};
const MOST_LISTED = 5;

/**
 * Looks at a module: that it is one, what it exports, and that it asks for nothing that the host does not offer. `exportName` is what is
 * to be called; `memoryBytes` what its memory may come to. Linear in its size; never throws.
 */
export function inspectModule(
  bytes: Uint8Array,
  { exportName, memoryBytes }: { exportName: string; memoryBytes: number },
): Inspection {
  if (bytes.length > MOST_MODULE_BYTES) {
    return { ok: false, reason: `it is larger than ${MOST_MODULE_BYTES} bytes` };
  }
  try {
    const found = read(bytes);
    const problem = importProblem(found.imports) ?? memoryProblem(found.memories, memoryBytes) ??
      tableProblem(found.tables) ?? exportProblem(found, exportName);
    if (problem !== undefined) return { ok: false, reason: problem };
    return {
      ok: true,
      info: {
        callable: [...found.exports].filter(([, type]) => isCallable(type)).map(([name]) => name),
        exports: [...found.exports.keys()],
        usesWasi: found.imports.some(({ module }) => module === WASI_MODULE),
        usesHttp: found.imports.some(({ name, kind }) => kind === "function" && name === "http_request"),
        initialMemoryBytes: (found.memories[0]?.min ?? 0) * PAGE_BYTES,
      },
    };
  } catch (error) {
    const said = error instanceof Malformed ? error.message : "it cannot be read";
    return { ok: false, reason: `it is not a WebAssembly module: ${said}` };
  }
}

interface Found {
  imports: Import[];
  memories: Limits[];
  tables: Limits[];
  /** Exported functions; undefined where the type is of a newer kind. */
  exports: Map<string, FunctionType>;
  /** Exports of every other kind. */
  others: string[];
}

function read(bytes: Uint8Array): Found {
  const types: FunctionType[] = [];
  const functions: FunctionType[] = [];
  const found: Found = { imports: [], memories: [], tables: [], exports: new Map(), others: [] };
  let typesKnown = true;
  let declared = 0;
  let bodies = 0;
  for (const { id, bodyStart, end } of sections(bytes)) {
    const from = reader(bytes, bodyStart, end);
    switch (id) {
      case SECTION.type:
        typesKnown = readTypes(from, types);
        break;
      case SECTION.import:
        for (let left = counted(from, MOST_IMPORTS, "imports"); left > 0; left--) {
          const entry = readImport(from, types);
          found.imports.push(entry);
          if (entry.kind === "function") functions.push(typesKnown ? entry.type : undefined);
          if (entry.kind === "memory" && entry.limits) found.memories.push(entry.limits);
        }
        break;
      case SECTION.function:
        for (let left = counted(from, MOST_FUNCTIONS, "functions"); left > 0; left--) {
          const type = from.number();
          declared += 1;
          functions.push(typesKnown ? types[type] : undefined);
        }
        break;
      case SECTION.code:
        bodies += from.number();
        break;
      case SECTION.table:
        for (let left = counted(from, MOST_TABLES, "tables"); left > 0; left--) {
          refuseInitialised(bytes[from.at]);
          readReferenceType(from);
          found.tables.push(readLimits(from));
        }
        break;
      case SECTION.memory:
        for (let left = from.number(); left > 0; left--) found.memories.push(readLimits(from));
        break;
      case SECTION.export:
        for (let left = counted(from, MOST_EXPORTS, "exports"); left > 0; left--) {
          const name = from.name();
          const kind = from.byte();
          const index = from.number();
          if (kind === 0) found.exports.set(name, functions[index]);
          else found.others.push(name);
        }
        break;
    }
  }
  if (bodies !== declared) throw new Malformed("its functions and their bodies do not match");
  return found;
}

function counted(from: Reader, most: number, what: string): number {
  const count = from.number();
  if (count > most) throw new Malformed(`it has more than ${most} ${what}`);
  return count;
}

/** Behind such a table stands an expression of any length. */
function refuseInitialised(first: number | undefined): void {
  if (first === 0x40) throw new Malformed("a table has an initial value, which is not supported");
}

/** False when there are types of a newer kind, whose numbers cannot be told. */
function readTypes(from: Reader, types: FunctionType[]): boolean {
  for (let left = counted(from, MOST_TYPES, "types"); left > 0; left--) {
    if (from.byte() !== 0x60) return false;
    const list = () => Array.from({ length: checkedLength(from) }, () => VALUE_TYPES[from.byte()]);
    const params = list();
    const results = list();
    const isPlain = (all: (ValueType | undefined)[]): all is ValueType[] => !all.includes(undefined);
    types.push(isPlain(params) && isPlain(results) ? { params, results } : undefined);
  }
  return true;
}

function checkedLength(from: Reader): number {
  const length = from.number();
  if (length > 1000) throw new Malformed("a function has too many parameters");
  return length;
}

function readImport(from: Reader, types: readonly FunctionType[]): Import {
  const module = from.name();
  const name = from.name();
  switch (from.byte()) {
    case 0:
      return { module, name, kind: "function", type: types[from.number()] };
    case 1:
      readReferenceType(from);
      return { module, name, kind: "table", limits: readLimits(from) };
    case 2:
      return { module, name, kind: "memory", limits: readLimits(from) };
    case 3:
      readReferenceType(from);
      from.byte();
      return { module, name, kind: "global" };
    case 4:
      from.byte();
      from.number();
      return { module, name, kind: "tag" };
    default:
      throw new Malformed("an import of an unknown kind");
  }
}

/** Only what the host itself has: every object has a `constructor`. */
function offeredOf(module: string, name: string): Signature | undefined {
  const functions = Object.hasOwn(OFFERED, module) ? OFFERED[module] : undefined;
  return functions && Object.hasOwn(functions, name) ? functions[name] : undefined;
}

function importProblem(imports: readonly Import[]): string | undefined {
  const missing = imports.filter(({ module, name, kind }) =>
    kind !== "memory" && (kind !== "function" || !offeredOf(module, name))
  );
  if (missing.length > 0) {
    const shown = missing.slice(0, MOST_LISTED).map(({ module, name, kind }) =>
      `${quote(module)} ${quote(name)}${kind === "function" ? "" : ` (a ${kind})`}`
    );
    const more = missing.length > MOST_LISTED ? ` and ${missing.length - MOST_LISTED} more` : "";
    return `it imports what the host does not offer: ${shown.join(", ")}${more}`;
  }
  for (const { module, name, type } of imports) {
    const offered = offeredOf(module, name);
    if (!type || !offered || isSame(type, offered)) continue;
    return `it imports ${quote(module)} ${quote(name)} as ${shownType(type)}, which is ${shownType(offered)}`;
  }
  return undefined;
}

function memoryProblem(memories: readonly Limits[], memoryBytes: number): string | undefined {
  const [memory, second] = memories;
  if (second) return "it has more than one memory";
  if (!memory) return undefined;
  if (memory.is64) return "it has a 64-bit memory";
  if (memory.shared) return "it has a shared memory, and threads are not offered";
  if (memory.customPage) return "it has a memory with pages of another size";
  const bytes = memory.min * PAGE_BYTES;
  return bytes > memoryBytes
    ? `it begins with ${bytes} bytes of memory, and \`memory\` allows ${memoryBytes}`
    : undefined;
}

function tableProblem(tables: readonly Limits[]): string | undefined {
  if (tables.some((table) => table.is64)) return "it has a 64-bit table";
  return tables.reduce((sum, table) => sum + table.min, 0) > MOST_TABLE_ENTRIES
    ? `its tables have more than ${MOST_TABLE_ENTRIES} entries`
    : undefined;
}

function exportProblem(found: Found, name: string): string | undefined {
  const taken = [...found.exports.keys(), ...found.others].find((one) => one.startsWith(OWN_EXPORT_PREFIX));
  if (taken !== undefined) {
    return `its export ${quote(taken)} has a name that is reyn's own, which begin with ${
      quote(OWN_EXPORT_PREFIX)
    }`;
  }
  if (found.exports.has(name)) {
    const type = found.exports.get(name);
    return isCallable(type) || type === undefined
      ? undefined
      : `its export ${quote(name)} is ${
        shownType(type)
      }; what is called takes nothing and gives an i32 or nothing`;
  }
  if (found.others.includes(name)) return `its export ${quote(name)} is not a function`;
  const names = [...found.exports].filter(([, type]) => isCallable(type)).map(([one]) => quote(one));
  const listed = names.slice(0, MOST_LISTED).join(", ");
  return `it does not export ${quote(name)}${listed === "" ? "" : `; it exports ${listed}`}`;
}

function isCallable(type: FunctionType): boolean {
  if (!type || type.params.length > 0 || type.results.length > 1) return false;
  return type.results.length === 0 || type.results[0] === "i32";
}

function isSame(a: Signature, b: Signature): boolean {
  return a.params.join() === b.params.join() && a.results.join() === b.results.join();
}

function shownType({ params, results }: Signature): string {
  return `(${params.join(", ")}) -> (${results.join(", ")})`;
}
