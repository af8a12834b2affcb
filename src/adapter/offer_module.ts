import nodeModule from "node:module";

interface BunPlugins {
  plugin(options: {
    name: string;
    setup(build: {
      module(name: string, load: () => { exports: Record<string, unknown>; loader: "object" }): void;
    }): void;
  }): unknown;
}

const offered = new Set<string>();

/**
 * Lets files outside of the program `import` what it is made of under a bare name. In Bun by a virtual module; in a program
 * that Deno compiled by a module that takes its exports from a global. Under `deno run` the import map of the
 * program's own deno.json does it, for nothing else reaches static imports there.
 */
export function offerModule(name: string, exports: Readonly<Record<string, unknown>>): void {
  if (offered.has(name)) return;
  offered.add(name);
  const { Bun: bun, Deno: deno } = globalThis as {
    Bun?: BunPlugins;
    Deno?: { build?: { standalone?: boolean } };
  };
  if (bun) {
    bun.plugin({
      name,
      setup: (build) => build.module(name, () => ({ exports: { ...exports }, loader: "object" })),
    });
  } else if (deno?.build?.standalone) {
    const symbol = `reyn.module.${name}`;
    Object.defineProperty(globalThis, Symbol.for(symbol), { value: exports });
    const names = Object.keys(exports).join(", ");
    const source = `export const { ${names} } = globalThis[Symbol.for(${JSON.stringify(symbol)})];`;
    const url = `data:text/javascript,${encodeURIComponent(source)}`;
    nodeModule.registerHooks({
      resolve: (specifier, context, next) =>
        specifier === name ? { url, shortCircuit: true } : next(specifier, context),
    });
  }
}
