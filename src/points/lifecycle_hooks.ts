import type {
  InputReceived,
  PhaseChanged,
  SessionSpawn,
  SessionSpawned,
  WaitingForInput,
  WorkItemComplete,
  WorkItemStart,
} from "./contexts.ts";
import type { DecisionContext, DecisionPoint, Decisions } from "./decision_shapes.ts";
import { DECISION_POINTS } from "./decisions.ts";

/** Marks the base class of every copy of this module; what extends it inherits the mark. */
const BRAND = Symbol.for("reyn.LifecycleHooks");
/** Marks a method that only stands in for one that a hook leaves out. */
const PASSES = Symbol.for("reyn.LifecycleHooks.passes");

/** What a hook may answer: nothing, to leave everything as it is, or the decisions that it names. */
export type Answer<P extends DecisionPoint> =
  | DecisionContext<P>
  | Partial<Decisions<P>>
  | null
  | undefined
  | void;

type Answered<P extends DecisionPoint> = Answer<P> | Promise<Answer<P>>;

/**
 * The base of a decision hook: override the points that are to be asked. Each method gets a context of its own (facts and
 * decisions; editing it changes nothing) and answers null to leave everything as it is, the context with other decisions,
 * or a plain object of the decisions that it changes. It may be async.
 *
 * A hook that throws, answers with a wrong type or takes too long is recorded and passed over; one that is declared
 * `required` then refuses the step, at the points that can be refused.
 *
 * ```ts
 * export class NightShift extends LifecycleHooks {
 *   override session_spawn(ctx: SessionSpawn) {
 *     if (ctx.work_item.repository === "acme/vault") return { proceed: false, reason: "not at night" };
 *     return { prompt: `${ctx.prompt}\nKeep it short.` };
 *   }
 * }
 * ```
 *
 * The class takes one options object, the `with` of its declaration; `{}` where that is absent.
 */
export class LifecycleHooks<Options = Readonly<Record<string, unknown>>> {
  constructor(_options?: Options) {}

  /** Asked once per arming, before a workspace is prepared. */
  work_item_start(_context: WorkItemStart): Answered<"work_item_start"> {}
  /** Asked before each launch of an agent program, respawns too. */
  session_spawn(_context: SessionSpawn): Answered<"session_spawn"> {}
  /** Asked after the launch, before it is announced. */
  session_spawned(_context: SessionSpawned): Answered<"session_spawned"> {}
  /** Asked before a question is published, and when a human node is entered. */
  waiting_for_input(_context: WaitingForInput): Answered<"waiting_for_input"> {}
  /** Asked before an answer, a comment or a control command takes effect. */
  input_received(_context: InputReceived): Answered<"input_received"> {}
  /** Asked when the phase label changes, and when a terminal node is claimed. */
  phase_changed(_context: PhaseChanged): Answered<"phase_changed"> {}
  /** Asked when the work item is closed or merged, before it is announced. */
  work_item_complete(_context: WorkItemComplete): Answered<"work_item_complete"> {}

  /** Whether this hook has a method of its own for the point. */
  handles(point: DecisionPoint): boolean {
    return handlesPoint(this, point);
  }
}

mark(LifecycleHooks, BRAND);
mark(LifecycleHooks.prototype, BRAND);
for (const point of DECISION_POINTS) mark(LifecycleHooks.prototype[point], PASSES);

function mark(target: object, symbol: symbol): void {
  Object.defineProperty(target, symbol, { value: true });
}

/** A class to be constructed, an object to be asked, or nothing of the kind. The base class itself is no hook. */
export type HookKind = "class" | "instance" | undefined;

/** What an exported value is, told by the brand and not by `instanceof`: a hook may carry a copy of this module. */
export function hookKind(value: unknown): HookKind {
  if (typeof value === "function") {
    return BRAND in value && !Object.hasOwn(value, BRAND) ? "class" : undefined;
  }
  return typeof value === "object" && value !== null && BRAND in value ? "instance" : undefined;
}

/** Whether a hook has a method of its own for the point: one that is not the base class's. */
export function handlesPoint(hook: object, point: DecisionPoint): boolean {
  const method: unknown = (hook as Readonly<Record<string, unknown>>)[point];
  return typeof method === "function" && !(PASSES in method);
}

/** Calls the hook's method for the point; null where it has none. Throws, or rejects, what the method does. */
export function callHook(hook: object, point: DecisionPoint, context: DecisionContext): unknown {
  const method: unknown = (hook as Readonly<Record<string, unknown>>)[point];
  if (typeof method !== "function" || PASSES in method) return null;
  return method.call(hook, context);
}
