import { quote } from "../errors/quote.ts";
import { hookKind } from "../points/lifecycle_hooks.ts";
import * as sdk from "../points/sdk/mod.ts";
import { failureText } from "./failure.ts";

export type Picked = { ok: true; hook: object } | { ok: false; reason: string };

export interface PickOptions {
  /** Name of the export; null: the only hook that the module exports. */
  executor: string | null;
  with: Readonly<Record<string, unknown>>;
}

/**
 * Takes the hook out of a module: a class, which is constructed with `with`; an instance; or a function that is given
 * the SDK and answers one of these. Reads exports only, and runs only what it takes.
 */
export async function pickExecutor(
  exports: Readonly<Record<string, unknown>>,
  options: PickOptions,
): Promise<Picked> {
  const found = options.executor === null ? onlyHook(exports) : named(exports, options.executor);
  if (!found.ok) return found;
  let value = found.value;
  if (isFactory(value)) {
    try {
      value = await value(sdk);
    } catch (error) {
      return { ok: false, reason: `${found.name} failed: ${failureText(error)}` };
    }
  }
  switch (hookKind(value)) {
    case "class":
      try {
        const hook: unknown = new (value as new (options: object) => unknown)(structuredClone(options.with));
        if (hookKind(hook) === "instance") return { ok: true, hook: hook as object };
        return { ok: false, reason: `${found.name} constructs something else than a hook` };
      } catch (error) {
        return { ok: false, reason: `${found.name} cannot be constructed: ${failureText(error)}` };
      }
    case "instance":
      if (Object.keys(options.with).length === 0) return { ok: true, hook: value as object };
      return { ok: false, reason: `\`with\` is for a class, and ${found.name} is an instance` };
    default:
      return { ok: false, reason: `${found.name} is no LifecycleHooks` };
  }
}

type Found = { ok: true; name: string; value: unknown } | { ok: false; reason: string };
type Factory = (sdk: unknown) => unknown;

function named(exports: Readonly<Record<string, unknown>>, name: string): Found {
  if (Object.hasOwn(exports, name)) {
    return { ok: true, name: `the export ${quote(name)}`, value: exports[name] };
  }
  const names = Object.keys(exports).join(", ") || "nothing";
  return { ok: false, reason: `there is no export ${quote(name)}; exported: ${names}` };
}

/** The one subclass that is exported, under however many names; else a default export that is given the SDK. */
function onlyHook(exports: Readonly<Record<string, unknown>>): Found {
  const classes = new Map<unknown, string>();
  for (const [name, value] of Object.entries(exports)) {
    if (hookKind(value) === "class" && (!classes.has(value) || name !== "default")) classes.set(value, name);
  }
  const [only, second] = [...classes];
  if (only && second) {
    const names = [...classes.values()].join(", ");
    return { ok: false, reason: `it exports more than one hook: ${names}; \`executor\` says which` };
  }
  if (only) return { ok: true, name: `the class ${quote(only[1])}`, value: only[0] };
  if (isFactory(exports["default"])) {
    return { ok: true, name: "the default export", value: exports["default"] };
  }
  return { ok: false, reason: "it exports no class that extends LifecycleHooks" };
}

/** A plain function: no hook itself, and no class of another kind, which cannot be called. */
function isFactory(value: unknown): value is Factory {
  return typeof value === "function" && hookKind(value) === undefined &&
    !/^class\b/.test(Function.prototype.toString.call(value)) && !Object.values(sdk).includes(value as never);
}
