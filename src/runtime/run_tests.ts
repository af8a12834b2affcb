import { differences, show } from "../composers/testing/compare.ts";
import type { Happening } from "../composers/testing/happenings.ts";
import { playTest, type TestWorld } from "../composers/testing/run_test.ts";
import type { ConfigTest, DeclaredTest } from "../composers/testing/section.ts";
import { didYouMean } from "../config/suggest.ts";
import type { LayerValue } from "../config/values.ts";
import type { Place } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { hookRegistry } from "../hooks/registry.ts";
import type { Configuration } from "./configuration.ts";

export interface TestProblem {
  message: string;
  place: Place | undefined;
  fix?: string;
}

export interface TestResult {
  name: string;
  ok: boolean;
  problems: TestProblem[];
  /** Everything that came of the test's events, in order. */
  happened: readonly Happening[];
}

/** Runs the tests of a configuration, or those called `name`. Nothing outside is touched. */
export function runTests(configuration: Configuration, name?: string): TestResult[] {
  const hooks = hookRegistry(configuration.hooks);
  const world: TestWorld = {
    composers: configuration.composers,
    hooks,
    off: new Set(hooks.all.filter((hook) => hook.name !== null && configuration.disabled.has(hook.name))),
    own: { agent: configuration.agent, sid: configuration.sid },
  };
  return configuration.tests.flatMap((layer) =>
    layer.value.filter(({ test }) => name === undefined || test.name === name)
      .map((declared) => runTest(declared, layer, world))
  );
}

function runTest(
  { index, test }: DeclaredTest,
  layer: LayerValue<DeclaredTest[]>,
  world: TestWorld,
): TestResult {
  const problem = (path: readonly (string | number)[], message: string, fix?: string): TestProblem => ({
    message,
    place: layer.finding([index, ...path], "E_TEST_CASE", message).place,
    ...(fix === undefined ? {} : { fix }),
  });
  const unknown = unknownNames(test, world).map(({ path, message, fix }) => problem(path, message, fix));
  const played = playTest(test, world);
  if (!played.ok) {
    const at = ["given", played.event, "kind"];
    const problems = [...unknown, problem(at, played.message, played.fix)];
    return { name: test.name, ok: false, problems, happened: [] };
  }
  const differing = unknown.length > 0 ? [] : differences(test.expect, played.happened);
  const problems = [
    ...unknown,
    ...differing.map(({ path, message }) => problem(path.length > 0 ? ["expect", ...path] : [], message)),
  ];
  return { name: test.name, ok: problems.length === 0, problems, happened: played.happened };
}

/** A name that nothing has would make a test that cannot fail. */
function unknownNames({ expect }: ConfigTest, { composers, hooks }: TestWorld) {
  const composerNames = composers.map(({ name }) => name);
  const labels = hooks.all.map(({ label }) => label);
  const unknown = (
    kind: string,
    name: string,
    known: readonly string[],
    path: (string | number)[],
  ) => {
    if (known.includes(name)) return [];
    const fix = didYouMean(name, known) ?? (known.length > 0 ? `there are ${known.join(", ")}` : undefined);
    return [{ path: ["expect", ...path], message: `no ${kind} is called ${quote(name)}`, fix }];
  };
  return [
    ...(expect.fires ?? []).flatMap(({ composer }, at) =>
      unknown("composer", composer, composerNames, ["fires", at, "composer"])
    ),
    ...(expect.drops ?? []).flatMap(({ composer }, at) =>
      unknown("composer", composer, composerNames, ["drops", at, "composer"])
    ),
    ...(expect.pushes ?? []).flatMap(({ hook }, at) => unknown("hook", hook, labels, ["pushes", at, "hook"])),
    ...(expect.runs ?? []).flatMap(({ hook }, at) => unknown("hook", hook, labels, ["runs", at, "hook"])),
    ...(expect.never ?? []).flatMap((name, at) =>
      unknown("composer or hook", name, [...composerNames, ...labels], ["never", at])
    ),
  ];
}

export { show as showHappening };
