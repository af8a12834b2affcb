import { ask } from "../decisions/ask.ts";
import { isAskedEverywhere } from "../decisions/declaration.ts";
import { loadOne } from "../decisions/find_hook.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { decisionSetup } from "../runtime/decisions.ts";
import { controlDir } from "./control_dir.ts";
import { contextOf, decisionPointOf, print } from "./decision_data.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { leaveAtEnd } from "./leave.ts";

export interface TestHookOptions {
  globals: GlobalOptions;
  name: string;
  point: unknown;
  data: unknown;
}

/**
 * `reyn hooks test NAME --point P`: really asks one decision hook, whatever its `on` and `match` say, and shows what it decides
 * and how long it took. Exit 0 when it answered, 1 when it failed or cannot be loaded. Nothing is recorded.
 */
export async function testHookVerb(
  { globals, name, ...given }: TestHookOptions,
  host: Host,
): Promise<number> {
  const point = decisionPointOf(given.point);
  const context = contextOf(point, given.data);
  const { clock } = host;
  const { place, deps } = decisionSetup(controlDir(globals.dir), globals.config, clock);
  leaveAtEnd();
  const hook = await loadOne(place, deps, name);
  try {
    const question = { point, context, id: host.ids.next(), limitMs: hook.timeoutMs };
    const begun = clock.monotonic();
    const answered = await ask(hook.executor, question, clock);
    const duration_ms = Math.round((clock.monotonic() - begun) * 1000) / 1000;
    const time = `(${duration_ms} ms)`;
    if (!answered.ok) {
      const { error } = answered;
      const told = { hook: name, point, answered: false, error, duration_ms };
      print(globals.json, told, [`${name} failed at ${point}: ${escapeVisible(error)}  ${time}`]);
      return EXIT.refused;
    }
    const { decisions } = answered;
    const handled = isAskedEverywhere(hook.declared.executor) || hook.points.includes(point);
    const lines = Object.entries(decisions).map(([field, value]) =>
      escapeVisible(`  ${field}: ${String(value)}`)
    );
    const head = lines.length > 0
      ? "decides"
      : handled
      ? "changes nothing"
      : "has no method for this point, or not by its `on`";
    print(globals.json, { hook: name, point, answered: true, handled, decisions, duration_ms }, [
      `${name} at ${point}: ${head}  ${time}`,
      ...lines,
    ]);
    return EXIT.ok;
  } finally {
    await hook.executor.close?.();
  }
}
