import { WASI_MODULE } from "./abi.ts";
import {
  encodeName,
  encodeNumber,
  Malformed,
  type Reader,
  reader,
  readLimits,
  readReferenceType,
  SECTION,
  sections,
} from "./binary.ts";
import { MOST_TABLE_ENTRIES, PAGE_BYTES } from "./limits.ts";

/** What the WASI module is called in a rewritten module, so that the SDK takes it from us: its own needs a runtime that has WASI. */
export const OWN_WASI_MODULE = "reyn:wasi";
/** Before the name of an export that the SDK would call by itself when it makes an instance. */
export const OWN_EXPORT_PREFIX = "reyn:";
/** Exports that prepare an instance, or are a whole program. The SDK calls them before there is a memory to give to WASI. */
const LIFECYCLE: readonly string[] = ["_initialize", "_start", "hs_init"];

/** Sections in the order in which they must stand; others keep their place. */
const AFTER_MEMORY = new Set([13, 6, 7, 8, 9, 12, 10, 11]);

/**
 * The module with its bounds written into it: no memory and no table can grow over its limit, a memory that it would import becomes
 * its own, and names are changed as the constants say. The module has passed `inspectModule`. Throws `Malformed`.
 */
export function rewriteModule(bytes: Uint8Array, memoryBytes: number): Uint8Array<ArrayBuffer> {
  const out: Uint8Array[] = [bytes.subarray(0, 8)];
  let ownMemory: number[] | undefined;
  const pages = Math.floor(memoryBytes / PAGE_BYTES);
  const addMemory = () => {
    if (ownMemory) out.push(section(SECTION.memory, [Uint8Array.from([1, ...ownMemory])]));
    ownMemory = undefined;
  };
  for (const { id, start, bodyStart, end } of sections(bytes)) {
    const from = reader(bytes, bodyStart, end);
    if (AFTER_MEMORY.has(id)) addMemory();
    switch (id) {
      case SECTION.import: {
        const imports = rewriteImports(bytes, from, pages);
        ownMemory = imports.memory;
        out.push(imports.section);
        break;
      }
      case SECTION.table:
        out.push(eachEntry(id, from, () => [
          ...readReferenceType(from),
          ...capped(from, MOST_TABLE_ENTRIES),
        ]));
        break;
      case SECTION.memory:
        out.push(eachEntry(id, from, () => capped(from, pages)));
        break;
      case SECTION.export:
        out.push(rewriteExports(bytes, from));
        break;
      default:
        out.push(bytes.subarray(start, end));
    }
  }
  addMemory();
  return concat(out);
}

function eachEntry(id: number, from: Reader, entry: () => number[]): Uint8Array {
  const count = from.number();
  const body: number[] = encodeNumber(count);
  for (let left = count; left > 0; left--) body.push(...entry());
  return section(id, [Uint8Array.from(body)]);
}

/** Limits with a maximum that is at most `most`. */
function capped(from: Reader, most: number): number[] {
  const limits = readLimits(from);
  if (limits.is64 || limits.shared || limits.customPage) {
    throw new Malformed("limits of a kind that is refused");
  }
  if (limits.min > most) throw new Malformed("limits that begin above what is allowed");
  return [1, ...encodeNumber(limits.min), ...encodeNumber(Math.min(limits.max ?? most, most))];
}

function rewriteImports(
  bytes: Uint8Array,
  from: Reader,
  pages: number,
): { section: Uint8Array; memory: number[] | undefined } {
  const entries: Uint8Array[] = [];
  let memory: number[] | undefined;
  for (let left = from.number(); left > 0; left--) {
    const start = from.at;
    const module = from.name();
    const afterModule = from.at;
    from.name();
    const kind = from.byte();
    if (kind === 2) {
      memory = capped(from, pages);
      continue;
    }
    if (kind !== 0) throw new Malformed("an import of a kind that is not offered");
    from.number();
    entries.push(
      module === WASI_MODULE
        ? concat([encodeName(OWN_WASI_MODULE), bytes.subarray(afterModule, from.at)])
        : bytes.subarray(start, from.at),
    );
  }
  return {
    section: section(SECTION.import, [Uint8Array.from(encodeNumber(entries.length)), ...entries]),
    memory,
  };
}

function rewriteExports(bytes: Uint8Array, from: Reader): Uint8Array {
  const count = from.number();
  const parts: Uint8Array[] = [Uint8Array.from(encodeNumber(count))];
  for (let left = count; left > 0; left--) {
    const name = from.name();
    const afterName = from.at;
    from.byte();
    from.number();
    const shown = LIFECYCLE.includes(name) ? OWN_EXPORT_PREFIX + name : name;
    parts.push(encodeName(shown), bytes.subarray(afterName, from.at));
  }
  return section(SECTION.export, parts);
}

function section(id: number, body: readonly Uint8Array[]): Uint8Array {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  return concat([Uint8Array.from([id, ...encodeNumber(length)]), ...body]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
