import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import { formatError, isReynError } from "../errors/reyn_error.ts";
import type { DecisionContext, DecisionPoint } from "../points/decision_shapes.ts";
import { DECISION_POINTS } from "../points/decisions.ts";
import { type AskedHook, type ChainHook, type Decided, runChain } from "./chain.ts";
import { failureText } from "./failure.ts";
import { type LoadedDecisions, NO_DECISIONS } from "./load_decisions.ts";

/** The decision hooks of one process, as the steps of a delivery ask them. */
export interface DecisionHooks {
  /**
   * Asks the hooks of a point. Never rejects. Without hooks there the decisions are the context itself. `id` is that of the
   * decision, for a step that is asked about again after a redelivery; default a fresh one.
   */
  decide<P extends DecisionPoint>(
    point: P,
    context: DecisionContext<P>,
    options?: { id?: string },
  ): Promise<Decided<P>>;
  /** Ends child processes and connections. */
  close(): Promise<void>;
}

export interface DecisionDeps {
  audit: Audit;
  clock: Clock;
  ids: Ids;
}

const NONE: readonly AskedHook[] = [];

/** For a daemon: what was loaded before it began. */
export function decisionHooks(loaded: LoadedDecisions, deps: DecisionDeps): DecisionHooks {
  const { hooks, config, chainTimeoutMs } = loaded;
  if (hooks.length > 0 && config !== null) {
    const names = hooks.map(({ name }) => name);
    deps.audit.emit("hooks.loaded", null, { hooks: names, count: names.length, config });
  }
  const chains = new Map<DecisionPoint, readonly ChainHook[]>(
    DECISION_POINTS.map((point) => [point, hooks.filter((hook) => hook.points.includes(point))] as const)
      .filter(([, chain]) => chain.length > 0),
  );
  const options = { ...deps, chainTimeoutMs };
  return {
    decide(point, context, more) {
      const chain = chains.get(point);
      if (chain === undefined) {
        return Promise.resolve({ decisions: context, refusedBy: null, id: null, asked: NONE });
      }
      return runChain(chain, point, context, more?.id === undefined ? options : { ...options, id: more.id });
    },
    close: () => loaded.close(),
  };
}

export interface LazyDeps extends DecisionDeps {
  /** Called once, at the first point; a failure leaves the process without hooks. */
  load: () => Promise<LoadedDecisions>;
  /** Lines for the operator. */
  talk: (line: string) => void;
}

/** For a command that does one thing: loaded when the first point asks, and without hooks when that fails. */
export function lazyDecisionHooks({ load, talk, ...deps }: LazyDeps): DecisionHooks {
  let opening: Promise<DecisionHooks> | undefined;
  const open = async (): Promise<DecisionHooks> => {
    try {
      return decisionHooks(await load(), deps);
    } catch (error) {
      const text = isReynError(error) ? formatError(error) : failureText(error);
      deps.audit.emit("hooks.load_failed", null, { error: text, strict: false });
      talk(`${text}\ngoing on without decision hooks\n`);
      return decisionHooks(NO_DECISIONS, deps);
    }
  };
  return {
    decide: async (point, context, options) =>
      await (await (opening ??= open())).decide(point, context, options),
    close: async () => await (await opening)?.close(),
  };
}
