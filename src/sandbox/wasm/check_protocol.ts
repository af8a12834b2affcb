import { z } from "zod";
import { GREETING, PROTOCOL } from "./frames.ts";
import { KEPT_LOG_BYTES, MOST_ERROR_TEXT } from "./limits.ts";
import {
  type AskHead,
  DENIED_AXES,
  EMITTED_NAME,
  MOST_DENIED,
  MOST_EMITTED_VALUES,
  MOST_TARGET,
  type ResultWords,
} from "./protocol.ts";

const text = (most: number) => z.string().max(most);

/** The words of a result. Checked, for they come from where a plugin runs. */
export const resultWords: z.ZodType<ResultWords> = z.strictObject({
  reason: text(MOST_ERROR_TEXT * 2).nullable(),
  /** The plugin's own error text. */
  error: text(MOST_ERROR_TEXT * 2).nullable(),
  log: text(KEPT_LOG_BYTES * 2),
  denied: z.array(z.strictObject({
    axis: z.enum(DENIED_AXES),
    target: text(MOST_TARGET * 2),
    reason: text(300),
  })).max(MOST_DENIED),
  deniedMore: z.int().min(0),
});

/** Questions during a call. A value, and the body of a request, are the body of the frame. */
export const askHead: z.ZodType<AskHead> = z.discriminatedUnion("ask", [
  z.strictObject({ ask: z.literal("var_get"), name: text(1024) }),
  z.strictObject({ ask: z.literal("var_set"), name: text(1024), remove: z.boolean() }),
  z.strictObject({
    ask: z.literal("emit"),
    name: z.string().regex(EMITTED_NAME),
    values: z.record(z.string().regex(EMITTED_NAME), z.union([z.number(), z.boolean()]))
      .refine((values) => Object.keys(values).length <= MOST_EMITTED_VALUES),
  }),
  z.strictObject({
    ask: z.literal("http"),
    url: text(16 * 1024),
    method: text(32),
    headers: z.array(z.tuple([text(1024), text(16 * 1024)])).max(100),
  }),
]);

/** What a process says when it is ready. */
export const helloAnswer = z.strictObject({
  greeting: z.literal(GREETING),
  protocol: z.literal(PROTOCOL),
  pid: z.int().positive(),
});

/** The value where the text is JSON of that form; what comes from where a plugin runs is not believed. */
export function parseHead<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
