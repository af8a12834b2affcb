import process from "node:process";
import { didYouMean } from "../config/suggest.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { loadForSession, requireUsable } from "../runtime/configuration.ts";
import { runTests, showHappening, type TestResult } from "../runtime/run_tests.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";

/** Lines of what happened that a failed test shows. */
const MOST_SHOWN = 40;

/** `reyn test`: runs what `tests:` declares; exit 1 when a test fails. */
export async function testVerb(globals: GlobalOptions, name: string | undefined): Promise<number> {
  const configuration = loadForSession({
    controlDir: controlDir(globals.dir),
    agent: globals.agent,
    sid: globals.session,
  });
  requireUsable(configuration);
  const results = runTests(configuration, name);
  const failed = results.filter(({ ok }) => !ok).length;
  if (name !== undefined && results.length === 0) {
    const names = configuration.tests.flatMap(({ value }) => value.map(({ test }) => test.name));
    const fix = didYouMean(name, names) ?? (names.length > 0 ? `tests: ${names.join(", ")}` : undefined);
    throw new ReynError("E_USAGE", `no test is called ${quote(name)}`, {
      exitCode: EXIT.usage,
      ...(fix === undefined ? {} : { fix }),
    });
  }
  if (globals.json) {
    const report = { ok: failed === 0, passed: results.length - failed, failed, tests: results.map(asJson) };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    process.stdout.write(results.map(resultText).join(""));
    const counts = `${results.length - failed} passed, ${failed} failed\n`;
    if (!globals.quiet) {
      process.stderr.write(results.length === 0 ? "no tests are declared (tests: in reyn.yaml)\n" : counts);
    }
  }
  return failed > 0 ? EXIT.refused : EXIT.ok;
}

function resultText({ name, ok, problems, happened }: TestResult): string {
  if (ok) return `ok    ${escapeVisible(name)}\n`;
  const lines = [`FAIL  ${name}`];
  for (const { place, message, fix } of problems) {
    const where = place ? `${place.file}:${place.line}:${place.column} ` : "";
    lines.push(`      ${where}${message}${fix === undefined ? "" : ` (${fix})`}`);
  }
  if (happened.length > 0) lines.push("      what happened:");
  for (const one of happened.slice(0, MOST_SHOWN)) lines.push(`        ${showHappening(one)}`);
  if (happened.length > MOST_SHOWN) lines.push(`        and ${happened.length - MOST_SHOWN} more`);
  return `${lines.map(escapeVisible).join("\n")}\n`;
}

function asJson({ happened, ...result }: TestResult) {
  return { ...result, happened: happened.map((one) => ({ ...one, at: one.at / 1000 })) };
}
