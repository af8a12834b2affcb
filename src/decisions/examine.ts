import { CATALOGUE } from "../errors/catalogue.ts";
import type { Finding } from "../errors/finding.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";
import type { DeclaredHook, LocalTarget, RemoteTarget } from "./declaration.ts";
import type { ConfigPlace } from "./find_config.ts";
import { openExchange } from "./remote/exchange.ts";
import { HooksConfigError } from "./config_error.ts";
import { type LoadDeps, loadHook, requireDeclaration } from "./load_decisions.ts";
import { untrusted } from "./trust_claims.ts";

/** How one hook is. */
export interface Examined {
  hook: string;
  kind: string;
  target: string;
  /** Whether it can be asked. */
  ok: boolean;
  /** Why it cannot. */
  problem?: string;
  /** Points that it is asked at; absent where it could not be loaded. */
  points?: readonly DecisionPoint[];
  /** What the operator should know. */
  notes: readonly string[];
  /** The service's clock minus ours, in whole seconds, where it tells its time. */
  clock_offset_s?: number;
}

/** Beyond this, a service that checks the age of a signature may refuse it. */
const TOLERATED_OFFSET_S = 60;
const HEALTH_LIMIT_MS = 5000;
const MAX_HEALTH_BYTES = 64 * 1024;

/** Loads every hook that is enabled and asks each service how it is. Throws a HooksConfigError for a bad declaration. */
export async function examineHooks(place: ConfigPlace | undefined, deps: LoadDeps): Promise<Examined[]> {
  if (place === undefined) return [];
  const declaration = requireDeclaration(place, deps.home);
  const refused = untrusted(place, declaration, deps);
  if (refused.length > 0) throw new HooksConfigError(place.shown, refused);
  const examined: Examined[] = [];
  for (const declared of declaration.hooks) {
    const { name: hook, executor, enabled } = declared;
    const base = { hook, kind: executor.kind, target: executor.target };
    if (!enabled) {
      examined.push({ ...base, ok: true, notes: ["disabled: not looked at"] });
      continue;
    }
    const loaded = await loadHook(declared, place, deps);
    if ("code" in loaded) {
      examined.push({ ...base, ok: false, problem: reasonOf(loaded), notes: [] });
      continue;
    }
    const { points } = loaded;
    examined.push({ ...base, points, ...await examineExecutor(declared, points, deps) });
    await loaded.executor.close?.();
  }
  return examined;
}

async function examineExecutor(
  { executor, timeoutMs }: DeclaredHook,
  points: readonly DecisionPoint[],
  deps: LoadDeps,
): Promise<Pick<Examined, "ok" | "problem" | "notes" | "clock_offset_s">> {
  switch (executor.kind) {
    case "url":
      return await examineService(executor, deps);
    case "wasm": {
      const sandbox = deps.plugins?.();
      const problem = await sandbox?.problem();
      await sandbox?.release();
      return problem === undefined ? { ok: true, notes: [] } : { ok: false, problem, notes: [] };
    }
    default:
      return { ok: true, notes: localNotes(executor, points, timeoutMs) };
  }
}

function reasonOf({ message, code }: Finding): string {
  return message || CATALOGUE[code].meaning;
}

function localNotes(
  executor: LocalTarget,
  points: readonly DecisionPoint[],
  timeoutMs: number,
): string[] {
  const notes: string[] = [];
  if (points.length === 0) notes.push("is asked at no point: it has no method for those that `on` leaves");
  if (!executor.isolate) {
    notes.push(
      `runs inside reyn: code that never yields stops everything, whatever its ${timeoutMs / 1000} s; ` +
        "`isolate: true` gives it a process that can be ended",
    );
  }
  return notes;
}

async function examineService(
  { target, tokenEnv, signEnv }: RemoteTarget,
  { clock, env }: LoadDeps,
): Promise<Pick<Examined, "ok" | "problem" | "notes" | "clock_offset_s">> {
  const notes: string[] = [];
  const unset = [tokenEnv, signEnv].find((name) => name !== null && !env(name));
  const service = openExchange();
  const abort = new AbortController();
  const cancel = clock.after(HEALTH_LIMIT_MS, () => abort.abort());
  try {
    const sent = { method: "GET", signal: abort.signal, maxBytes: MAX_HEALTH_BYTES } as const;
    const response = await service.send(healthUrl(target), sent);
    const date = Date.parse(response.date ?? "");
    const offset = Number.isNaN(date) ? undefined : Math.round((date - clock.now()) / 1000);
    const clockPart = offset === undefined ? {} : { clock_offset_s: offset };
    if (offset !== undefined && Math.abs(offset) > TOLERATED_OFFSET_S) {
      notes.push(
        `its clock differs from ours by ${offset} s${signEnv === null ? "" : ": it may refuse signatures"}`,
      );
    }
    if (unset !== undefined) {
      return { ok: false, problem: `the variable ${unset} is not set`, notes, ...clockPart };
    }
    if (response.status === 404 || response.status === 405) notes.push("answers, but has no health check");
    else if (response.status < 200 || response.status > 299) {
      return {
        ok: false,
        problem: `its health check answers with HTTP ${response.status}`,
        notes,
        ...clockPart,
      };
    }
    return { ok: true, notes, ...clockPart };
  } catch {
    return { ok: false, problem: "it cannot be reached", notes };
  } finally {
    cancel();
    service.close();
  }
}

/** `/health` below the service's own path. */
function healthUrl(target: string): string {
  const url = new URL(target);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/health`;
  url.search = "";
  return url.href;
}
