import { z } from "zod";
import { expecting } from "../config/scalars.ts";
import { listSection } from "../config/section.ts";

/** A name in a session's `disabled:` list, with where it stands in that list. */
export interface DisabledHook {
  index: number;
  name: string;
}

/** `disabled:` of a session's own hooks.yaml: names of hooks that this session has switched off. */
export const disabledSection = listSection<string, DisabledHook[]>({
  key: "disabled",
  item: z.string({ error: expecting("must be the name of a hook") }).regex(/\S/, {
    error: "must not be blank",
  }),
  layers: ["session"],
  compile: (items) => items.map(({ index, value }) => ({ index, name: value.trim() })),
});
