/** JSON type of a payload field, as `reyn hooks points` prints it. */
export type FieldType =
  | "string"
  | "string|null"
  | "boolean"
  | "integer"
  | "number"
  | "string[]"
  | "object"
  | "object[]"
  | "work_item";

export interface FieldSpec {
  type: FieldType;
  meaning: string;
  /** The only values it takes, where they are few. */
  values?: readonly string[];
}

export function field<T extends FieldType>(
  type: T,
  meaning: string,
  values?: readonly string[],
): FieldSpec & { type: T } {
  return values ? { type, meaning, values } : { type, meaning };
}
