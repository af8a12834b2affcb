import { join, resolve } from "node:path";
import { z } from "zod";
import { canonicalPath, isUnder } from "./canonical_path.ts";
import { type AuthorityFacts, type AuthorityTest, type AuthorityVerdict, marked, marksOf } from "./marks.ts";
import { nonBlank } from "./scalars.ts";
import type { Path } from "./section.ts";
import { valueAt } from "./path.ts";
import { outputOf, type Step, walkSchema } from "./walk_schema.ts";

/**
 * Marks a key that decides over more than the project itself: what it lets happen needs the operator's word. A file
 * of the control folder that sets it is refused until trusted. Without a test any value counts.
 */
export function authority<Schema extends z.ZodType>(
  schema: Schema,
  test: AuthorityTest<z.output<Schema>> = () => true,
): Schema {
  return marked(schema, { authority: test as AuthorityTest });
}

/**
 * A path in a configuration file: relative to the control folder, `~/` for the home. In a project file it needs the
 * operator's trust when it leaves the control folder, by `..`, as an absolute path or through a symlink.
 * Yields the text as written; `SectionContext.resolve` makes it absolute.
 */
export function controlPath(): z.ZodString {
  return authority(nonBlank(), (text, { controlDir, home }) => {
    const path = resolveControlPath(text, controlDir, home);
    return isInside(path, controlDir) ? false : "it leaves the control folder";
  });
}

export function resolveControlPath(text: string, controlDir: string, home: string): string {
  if (text === "~") return home;
  return text.startsWith("~/") ? join(home, text.slice(2)) : resolve(controlDir, text);
}

/**
 * Whether an absolute path lies in (or is) the folder once symlinks of both are followed, also to where nothing is yet.
 */
export function isInside(path: string, folder: string): boolean {
  return isUnder(canonicalPath(resolve(path)), canonicalPath(resolve(folder)));
}

/** A key of a project file that needs trust. */
export interface AuthorityItem {
  path: Path;
  value: unknown;
  /** Why, where the key alone does not say. */
  reason?: string;
  /** No trust helps: only the operator's own file may say this. */
  operatorOnly?: true;
  /** The argvs in it, whose files are code. */
  argvs: readonly (readonly string[])[];
}

/** Lists the values in a section of a project file that need the operator's trust, in the order of the file. */
export function authorityItems(
  schema: z.core.$ZodType,
  value: unknown,
  facts: { controlDir: string; home: string; operator: unknown },
): AuthorityItem[] {
  const items: AuthorityItem[] = [];
  walkSchema(schema, value, (step) => {
    const test = marksOf(step.schema).authority;
    if (!test) return true;
    const output = z.safeParse(step.schema, step.value);
    // What the schema refuses is a finding already and never takes effect.
    if (!output.success) return false;
    const own = valueAt(facts.operator, step.path);
    const known: AuthorityFacts = {
      controlDir: facts.controlDir,
      home: facts.home,
      operator: own === undefined ? undefined : outputOf(step.schema, own),
      fallback: step.fallback ?? outputOf(step.schema, undefined),
    };
    const verdict = test(output.data, known);
    if (verdict === false) return true;
    items.push({ path: step.path, value: step.value, ...verdictParts(verdict), argvs: argvsIn(step) });
    return false;
  });
  return items;
}

function verdictParts(
  verdict: Exclude<AuthorityVerdict, false>,
): Pick<AuthorityItem, "reason" | "operatorOnly"> {
  if (typeof verdict === "boolean") return {};
  return typeof verdict === "string"
    ? { reason: verdict }
    : { reason: verdict.operatorOnly, operatorOnly: true };
}

function argvsIn({ schema, value }: Step): string[][] {
  const argvs: string[][] = [];
  walkSchema(schema, value, (step) => {
    if (!marksOf(step.schema).argv) return true;
    const argv = z.array(z.string()).safeParse(step.value);
    if (argv.success) argvs.push(argv.data);
    return false;
  });
  return argvs;
}
