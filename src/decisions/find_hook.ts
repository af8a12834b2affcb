import { didYouMean } from "../config/suggest.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { HooksConfigError } from "./config_error.ts";
import type { ConfigPlace } from "./find_config.ts";
import { type LoadDeps, type LoadedHook, loadHook, requireDeclaration } from "./load_decisions.ts";
import { untrusted } from "./trust_claims.ts";

/** Loads one hook by its name, one that is disabled too, and no other. Throws E_HOOK_UNKNOWN and HooksConfigError. */
export async function loadOne(
  place: ConfigPlace | undefined,
  deps: LoadDeps,
  name: string,
): Promise<LoadedHook> {
  const declaration = place && requireDeclaration(place, deps.home);
  const hooks = declaration?.hooks ?? [];
  const declared = hooks.find((hook) => hook.name === name);
  if (!place || !declaration || !declared) {
    const names = hooks.map((hook) => hook.name);
    const fix = didYouMean(name, names) ?? `decision hooks: ${names.join(", ") || "none"}`;
    throw new ReynError("E_HOOK_UNKNOWN", `no decision hook is called ${quote(name)}`, { fix });
  }
  const own = { ...declaration, hooks: [{ ...declared, enabled: true }] };
  const refused = untrusted(place, own, deps);
  if (refused.length > 0) throw new HooksConfigError(place.shown, refused);
  const loaded = await loadHook(declared, place, deps);
  if ("code" in loaded) throw new HooksConfigError(place.shown, [loaded]);
  return loaded;
}
