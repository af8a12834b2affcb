import { z } from "zod";

/** Facts that an authority test may weigh. Values are outputs of the schema, ready for comparison. */
export interface AuthorityFacts<Value = unknown> {
  controlDir: string;
  home: string;
  /** What `~/.reyn/config.yaml` sets at the same path. */
  operator: Value | undefined;
  /** The schema's own default. */
  fallback: Value | undefined;
}

/** no, yes, yes with a reason, or: no trust helps, only the operator's own file may say this. */
export type AuthorityVerdict = boolean | string | { operatorOnly: string };

/**
 * Whether a project file that sets this value needs the operator's trust. It gets the schema's output, so only values
 * that the schema accepts.
 */
export type AuthorityTest<Value = unknown> = (
  value: Value,
  facts: AuthorityFacts<Value>,
) => AuthorityVerdict;

interface Marks {
  raw?: true;
  /** The key is known, and refused. */
  notYet?: true;
  authority?: AuthorityTest;
  /** An argv whose program and files are code: trust is bound to their content. */
  argv?: true;
}

const MARKS = z.registry<Marks>();

/** A copy of the schema that carries the mark; the schema itself may be in use elsewhere. */
export function marked<Schema extends z.ZodType>(schema: Schema, mark: Marks): Schema {
  const clone = schema.clone(undefined, { parent: true });
  MARKS.add(clone, { ...MARKS.get(schema), ...mark });
  return clone;
}

/** Marks a part in which `${NAME}` and `$$` are plain text in every layer: argv and templates. */
export function raw<Schema extends z.ZodType>(schema: Schema): Schema {
  return marked(schema, { raw: true });
}

/** Marks an argv: whoever trusts it trusts what its files hold as well. Raw, too. */
export function argvOf<Schema extends z.ZodType<string[]>>(schema: Schema): Schema {
  return marked(schema, { raw: true, argv: true });
}

export function marksOf(schema: z.core.$ZodType): Marks {
  return MARKS.get(schema) ?? {};
}
