import type { SectionContext } from "./section.ts";

export interface EntryContext {
  /** Paths are relative to the entry. */
  context: SectionContext;
  /** Errors that were reported of the entry so far. */
  readonly faults: number;
}

/** The context of one entry of a list section. */
export function entryContext(context: SectionContext, index: number): EntryContext {
  let faults = 0;
  return {
    context: {
      ...context,
      report(path, code, message, fix, at) {
        if (code.startsWith("E_")) faults += 1;
        context.report([index, ...path], code, message, fix, at);
      },
    },
    get faults() {
      return faults;
    },
  };
}
