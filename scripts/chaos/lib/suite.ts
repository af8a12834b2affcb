import process from "node:process";

/** What a suite found. */
export interface SuiteResult {
  name: string;
  /** Kills, damages or faults after which all was well. */
  passed: number;
  /** Each with all that is needed to see it again. */
  violations: string[];
  /** Figures. */
  notes: string[];
}

function printResult(result: SuiteResult, seconds: number): void {
  const { name, passed, violations, notes } = result;
  console.log(
    `${violations.length > 0 ? "FAILED" : "ok    "} ${
      seconds.toFixed(1).padStart(6)
    } s  ${name}: ${passed} passed`,
  );
  for (const note of notes) console.log(`    ${note}`);
  for (const violation of violations) console.log(`  VIOLATION ${violation}`);
}

/** Runs suites one after the other, cleans up and ends the process: exit 1 on any violation, last line `N passed, N failed`. */
export async function runSuites(
  suites: readonly (() => Promise<SuiteResult>)[],
  cleanUp: () => Promise<void>,
): Promise<never> {
  let passed = 0;
  let failed = 0;
  for (const suite of suites) {
    const began = performance.now();
    const result = await suite().catch((error: unknown): SuiteResult => ({
      name: suite.name || "suite",
      passed: 0,
      violations: [error instanceof Error ? error.stack ?? error.message : String(error)],
      notes: [],
    }));
    printResult(result, (performance.now() - began) / 1000);
    passed += result.passed;
    failed += result.violations.length;
  }
  await cleanUp();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

/** Whole-number options of the command line: `--kills=300`. Anything else ends the process with exit 2. */
export function numbers<K extends string>(defaults: Readonly<Record<K, number>>): Record<K, number> {
  const values: Record<K, number> = { ...defaults };
  for (const argument of process.argv.slice(2)) {
    const [, name = "", text = ""] = /^--([a-z]+)=(\d+)$/.exec(argument) ?? [];
    if (!(name in defaults)) {
      console.error(`${argument}: there are ${Object.keys(defaults).map((key) => `--${key}=N`).join(" ")}`);
      process.exit(2);
    }
    values[name as K] = Number(text);
  }
  return values;
}
