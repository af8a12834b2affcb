import { z } from "zod";
import { marked } from "./marks.ts";
import type { ErrorCode } from "../errors/catalogue.ts";

/** What a schema's own check says: how it is coded, what to do, and whether the key is at fault or the value. */
export interface Refusal {
  code: ErrorCode;
  fix?: string;
  at?: "value" | "key";
}

/**
 * Parameters for `schema.refine(test, refusal(…))`: a failing test becomes a finding with this code instead of
 * E_CONFIG_TYPE.
 */
export function refusal(
  code: ErrorCode,
  message: string,
  rest: Omit<Refusal, "code"> = {},
): { error: string; params: { refusal: Refusal } } {
  return { error: message, params: { refusal: { code, ...rest } } };
}

/** Adds a coded finding from within `superRefine` or `transform`; `path` is relative to the schema's value. */
export function refuse(
  context: z.RefinementCtx,
  code: ErrorCode,
  message: string,
  rest: Omit<Refusal, "code"> & { path?: (string | number)[] } = {},
): void {
  const { path = [], ...more } = rest;
  context.addIssue({ code: "custom", message, path, params: { refusal: { code, ...more } } });
}

/** Reads back what `refusal` and `refuse` put into an issue. */
export function refusalOf(params: unknown): Refusal | undefined {
  if (typeof params !== "object" || params === null || !("refusal" in params)) return undefined;
  return params.refusal as Refusal;
}

/**
 * A sub-key that is documented but whose part does not exist yet: `profile: notYet("profile", "permissions")`.
 * Leaving it out is fine, writing it is refused by name.
 */
export function notYet(key: string, part: string): z.ZodOptional<z.ZodUnknown> {
  const refused = z.unknown()
    .refine(() => false, refusal("E_KEY_NOT_YET", notYetMessage(key, part), { at: "key" }))
    .meta({ not: {}, description: `not there yet: part of ${part}` })
    .optional();
  return marked(refused, { notYet: true });
}

export function notYetMessage(key: string, part: string): string {
  return `\`${key}\` is part of ${part}, which this version of reyn does not have yet`;
}
