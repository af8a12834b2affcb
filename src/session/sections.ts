import { z } from "zod";
import { authority } from "../config/authority.ts";
import { duration, expecting } from "../config/scalars.ts";
import { valueSection } from "../config/section.ts";

/** Turns from inside in a row, unless the operator says otherwise. */
const DEFAULT_CAP = 25;

/** 0 means no bound, which is looser than any. */
const asBound = (cap: number): number => cap === 0 ? Infinity : cap;

const cap = authority(
  z.number({ error: expecting("must be a whole number of turns, 0 for no bound") }).int().min(0).default(
    DEFAULT_CAP,
  ),
  (value, { operator, fallback }) => {
    const allowed = operator ?? fallback ?? DEFAULT_CAP;
    return asBound(value) > asBound(allowed) && `it is looser than ${allowed}`;
  },
);

const resetOn = authority(
  z.array(z.enum(["external_message", "cron"])).default([]),
  (value) => value.length > 0 && "it is looser than the default",
);

export const safetySection = valueSection({
  key: "safety",
  schema: z.strictObject({
    loop: z.strictObject({
      max_hook_driven_turns: cap.meta({ description: "Turns triggered from inside in a row; 0: no bound." }),
      reset_on: resetOn.meta({ description: "Kinds of turns that reset the count besides a human's." }),
    }).prefault({}),
    on_limit: z.enum(["warn", "ask_user", "abort"]).default("warn").meta({
      description: "What happens over the cap. The session stays alive in all three.",
    }),
  }).prefault({}),
  compile: (value) => value,
});

export const resumeSection = valueSection({
  key: "resume",
  schema: z.enum(["retry", "skip"]).default("retry").meta({
    description: "What happens to a turn that was interrupted.",
  }),
  compile: (value) => value,
});

/** How long hooks may take after a signal before the process goes. */
export const shutdownGraceSection = valueSection({
  key: "shutdown_grace",
  schema: duration({ max: 3600_000 }).prefault(10),
  compile: (value) => value,
});
