import { z } from "zod";
import { collectGarbage, DEFAULT_RETENTION, type GcReport } from "../../runtime/gc.ts";
import type { Hosting } from "../../runtime/serve.ts";
import { apiErrorOf, failure } from "../api_error.ts";
import { type Route, route } from "../route.ts";

const amount = z.object({ files: z.number(), bytes: z.number() });
const report = z.object({
  dry_run: z.boolean(),
  events: amount,
  ids: z.number(),
  records: z.number(),
  set_aside: amount,
});

const DAY_MS = 86_400_000;
const ms = (least: number, otherwise: number) => z.number().min(least).default(otherwise);
const body = z.strictObject({
  dry_run: z.boolean().default(false),
  eventsMs: ms(0, DEFAULT_RETENTION.eventsMs),
  eventsBytes: z.number().int().min(0).default(DEFAULT_RETENTION.eventsBytes),
  idsMs: ms(DAY_MS, DEFAULT_RETENTION.idsMs),
  setAsideMs: ms(0, DEFAULT_RETENTION.setAsideMs),
});
type Body = z.output<typeof body>;

const running = new WeakSet<Hosting>();

/** How often whoever waits is sent a sign of life: white space, which JSON may begin with. */
const SIGN_MS = 5_000;

export const gcRoutes: readonly Route[] = [
  route<Record<string, never>, Body>({
    method: "POST",
    path: "/api/gc",
    summary:
      "Removes what is no longer needed, as `reyn gc` does; a failure on the way is told as `error` in the answer",
    needs: ["admin"],
    body: body as z.ZodType<Body>,
    answers: { 200: { says: "what was removed", schema: report } },
    handle({ hosting, body: { dry_run, ...retention } }) {
      if (running.has(hosting)) {
        throw failure(503, "E_HTTP_BUSY", "reyn is removing what is no longer needed already");
      }
      running.add(hosting);
      const { controlDir, store, audit, host: { clock, fault } } = hosting;
      const done = collectGarbage({ controlDir, store, audit, clock, retention, dry: dry_run, fault })
        .finally(() => running.delete(hosting));
      return Promise.resolve(
        new Response(patiently(done, hosting), {
          headers: { "content-type": "application/json", "cache-control": "no-store" },
        }),
      );
    },
  }),
];

function patiently(done: Promise<GcReport>, { host }: Hosting): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let cancel = () => {};
  return new ReadableStream({
    start(controller) {
      const sign = () => {
        controller.enqueue(encoder.encode("\n"));
        cancel = host.ioClock.after(SIGN_MS, sign);
      };
      sign();
      const end = (answer: unknown) => {
        cancel();
        try {
          controller.enqueue(encoder.encode(JSON.stringify(answer)));
          controller.close();
        } catch {
          // Whoever asked has gone; the work is done all the same.
        }
      };
      done.then(end, (error: unknown) => {
        const { code, message, fix } = apiErrorOf(error);
        end({ error: { code, message, ...(fix === undefined ? {} : { fix }) } });
      });
    },
    cancel: () => cancel(),
  });
}
