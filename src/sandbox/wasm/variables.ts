import { MOST_VARIABLE_BYTES, MOST_VARIABLES } from "./limits.ts";

/** What plugins keep between calls, each hook for itself; gone with the runtime. */
export interface Variables {
  /** The owner's variables as one call sees and changes them. */
  begin(owner: string): CallVariables;
}

/** Changes count for others once they are kept; a call that fails keeps none. */
export interface CallVariables {
  get(name: string): Uint8Array | undefined;
  /** Undefined removes it. Gives why it was not taken, if it was not. */
  set(name: string, value: Uint8Array | undefined): string | undefined;
  keep(): void;
}

type Values = ReadonlyMap<string, Uint8Array>;

/** Owners whose variables are held; the one unused for the longest loses its own. */
const MOST_OWNERS = 256;
const NONE: Values = new Map();

export function openVariables(): Variables {
  const owners = new Map<string, Values>();
  return {
    begin(owner) {
      const changed = new Map<string, Uint8Array | undefined>();
      const values = () => owners.get(owner) ?? NONE;
      return {
        get: (name) => changed.has(name) ? changed.get(name) : values().get(name),
        set(name, value) {
          const next = merged(values(), new Map([...changed, [name, value]]));
          const problem = value ? problemWith(next) : undefined;
          if (problem === undefined) changed.set(name, value);
          return problem;
        },
        keep() {
          if (changed.size === 0) return;
          const next = merged(values(), changed);
          // Another call of the same hook may have kept some meanwhile.
          if (problemWith(next) !== undefined) return;
          owners.delete(owner);
          if (next.size > 0) owners.set(owner, next);
          const [oldest] = owners.keys();
          if (owners.size > MOST_OWNERS && oldest !== undefined) owners.delete(oldest);
        },
      };
    },
  };
}

function merged(values: Values, changed: ReadonlyMap<string, Uint8Array | undefined>): Values {
  const next = new Map(values);
  for (const [name, value] of changed) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}

function problemWith(values: Values): string | undefined {
  if (values.size > MOST_VARIABLES) return `it would have more than ${MOST_VARIABLES} variables`;
  let bytes = 0;
  for (const [name, value] of values) bytes += name.length + value.length;
  return bytes > MOST_VARIABLE_BYTES
    ? `its variables would hold more than ${MOST_VARIABLE_BYTES} bytes`
    : undefined;
}
