import { z } from "zod";
import { duration, expecting, nonBlank } from "../../config/scalars.ts";
import { type ListSection, listSection } from "../../config/section.ts";

const text = () => z.string({ error: expecting("must be a string") });
const payload = () => z.record(z.string(), z.json(), { error: expecting("must be a mapping") });

const given = z.strictObject({
  at: duration().optional().meta({ description: "From the beginning. Default: with the event before it." }),
  kind: nonBlank().meta({ description: "The event, written as in a composer's inputs." }),
  payload: payload().optional(),
});

const when = { at: duration().optional().meta({ description: "When, from the beginning." }) };

const expected = z.strictObject({
  fires: z.array(z.strictObject({
    composer: nonBlank(),
    key: text().optional(),
    ...when,
    payload: payload().optional().meta({ description: "Fields that the composed event has at least." }),
  })).optional().meta({ description: "Every fire of each composer named, in order. []: none fires." }),
  drops: z.array(z.strictObject({
    composer: nonBlank(),
    key: text().optional(),
    reason: text().optional(),
    ...when,
  })).optional().meta({
    description: "Every drop of each composer named, in order. []: none drops anything.",
  }),
  pushes: z.array(z.strictObject({
    hook: nonBlank(),
    text: text().optional(),
    contains: text().optional().meta({ description: "A piece of the text." }),
    wake: z.boolean().optional(),
    ...when,
  })).optional().meta({ description: "Every push of each hook named, in order. []: nothing is pushed." }),
  runs: z.array(z.strictObject({ hook: nonBlank(), ...when })).optional().meta({
    description:
      "Every run of each hook named that runs a command; none is really run. []: nothing would run.",
  }),
  never: z.array(nonBlank()).optional().meta({
    description: "Composers and hooks that do nothing at all.",
  }),
});

const testSchema = z.strictObject({
  name: nonBlank(),
  given: z.array(given, { error: expecting("must be a list of events") }).min(1, {
    error: "must have at least one event",
  }),
  until: duration().optional().meta({
    description: "How far time goes. Default: until nothing is due any more.",
  }),
  expect: expected.refine((value) => Object.values(value).some((list) => list !== undefined), {
    error: "expects nothing; write fires, drops, pushes, runs or never",
  }),
});

/** One entry of `tests:`; durations are milliseconds. */
export type ConfigTest = z.output<typeof testSchema>;
export type Expected = ConfigTest["expect"];

export interface DeclaredTest {
  index: number;
  test: ConfigTest;
}

/** `tests:` of the operator's own file and of the startup layer. */
export const testsSection: ListSection<ConfigTest, DeclaredTest[]> = listSection<ConfigTest, DeclaredTest[]>({
  key: "tests",
  item: testSchema,
  layers: ["operator", "startup"],
  compile(items, context) {
    const names = new Map<string, number>();
    for (const { index, value: { name, given, until } } of items) {
      const first = names.get(name);
      if (first === undefined) names.set(name, index);
      else context.report([index, "name"], "E_TEST_CASE", `the name "${name}" is taken by tests[${first}]`);
      let latest = 0;
      given.forEach(({ at = latest }, event) => {
        const path = [index, "given", event, "at"];
        if (at < latest) context.report(path, "E_TEST_CASE", "is before the event above it");
        else if (until !== undefined && at > until) {
          context.report(
            path,
            "E_TEST_CASE",
            "is after until, so it would never come",
            "leave it out, or move until",
          );
        }
        latest = Math.max(latest, at);
      });
    }
    return items.map(({ index, value }) => ({ index, test: value }));
  },
});
