import type { DecisionContext, DecisionPoint } from "../points/decision_shapes.ts";
import type { ConfigPlace } from "./find_config.ts";
import { isAskedEverywhere, MATCH_FIELDS } from "./declaration.ts";
import { type LoadDeps, requireDeclaration } from "./load_decisions.ts";
import { untrusted } from "./trust_claims.ts";
import { HooksConfigError } from "./config_error.ts";
import { compileMatch } from "./match_hook.ts";

/** What would become of a hook at a point, as far as its declaration tells. */
export interface PlannedHook {
  hook: string;
  /** `if_handled`: its code, which is not loaded to tell, is asked if it has a method for the point. */
  verdict: "would_ask" | "if_handled" | "no_match" | "not_at_point" | "disabled";
  /** The field of `match` that keeps it away. */
  field?: string;
}

/** Says which hooks would be asked, importing and contacting nothing. Throws a HooksConfigError. */
export function planDecision<P extends DecisionPoint>(
  place: ConfigPlace | undefined,
  deps: LoadDeps,
  point: P,
  context: DecisionContext<P>,
): PlannedHook[] {
  if (place === undefined) return [];
  const declaration = requireDeclaration(place, deps.home);
  const refused = untrusted(place, declaration, deps);
  if (refused.length > 0) throw new HooksConfigError(place.shown, refused);
  return declaration.hooks.map(({ name: hook, enabled, on, match, executor }) => {
    if (!enabled) return { hook, verdict: "disabled" };
    if (on !== null && !on.includes(point)) return { hook, verdict: "not_at_point" };
    const field = MATCH_FIELDS.find((one) => {
      const pattern = match[one];
      return pattern !== undefined && !compileMatch({ [one]: pattern })(context as Record<string, unknown>);
    });
    if (field !== undefined) return { hook, verdict: "no_match", field };
    return { hook, verdict: isAskedEverywhere(executor) ? "would_ask" : "if_handled" };
  });
}
