import type { BusEvent } from "../bus/event.ts";
import type { Matcher } from "../match/matcher.ts";
import type { Composer, ComposerInput } from "./composer.ts";
import type { Machine } from "./machine.ts";
import { UNTIL } from "./ops/deadline.ts";

/** What one composer does with events of one kind. */
export interface Route {
  readonly machine: Machine;
  /** The inputs that the event matches; null: none of them. Not to be changed: lists are shared. */
  inputsOf(event: BusEvent): readonly number[] | null;
  /** Whether the event is one of its `unless`; null: none of this kind is. */
  readonly cancels: ((event: BusEvent) => boolean) | null;
}

interface Candidate {
  input: number;
  matcher: Matcher | null;
}

/** The routes of all kinds that any of the composers takes, in the order of the composers. */
export function routesOf(machines: readonly Machine[]): Map<string, Route[]> {
  const routes = new Map<string, Route[]>();
  for (const machine of machines) {
    for (const kind of kindsOf(machine.composer)) {
      const route = routeOf(machine, kind);
      const there = routes.get(kind);
      if (there) there.push(route);
      else routes.set(kind, [route]);
    }
  }
  return routes;
}

function kindsOf({ inputs, until, unless }: Composer): Set<string> {
  const all = until ? [...inputs, until, ...unless] : [...inputs, ...unless];
  return new Set(all.map(({ kind }) => kind));
}

function routeOf(machine: Machine, kind: string): Route {
  const { inputs, until, unless } = machine.composer;
  const numbered = inputs.map((input, index) => ({ input, index }));
  if (until) numbered.push({ input: until, index: UNTIL });
  const candidates = numbered.filter(({ input }) => input.kind === kind)
    .map(({ input: { matcher }, index }): Candidate => ({ input: index, matcher }));
  const cancellers = unless.filter((input: ComposerInput) => input.kind === kind);
  return {
    machine,
    inputsOf: matching(candidates),
    cancels: cancellers.length === 0
      ? null
      : ({ payload }) =>
        cancellers.some(({ matcher }) => matcher === null || matcher.failing(payload) === -1),
  };
}

/** Up to so many candidates each combination that occurs is listed once and shared. */
const MOST_SHARED = 16;

function matching(candidates: readonly Candidate[]): Route["inputsOf"] {
  const [only] = candidates;
  if (only === undefined) return () => null;
  if (candidates.length === 1) {
    const { matcher } = only;
    const list = [only.input];
    if (matcher === null) return () => list;
    return ({ payload }) => matcher.failing(payload) === -1 ? list : null;
  }
  const accepts = ({ matcher }: Candidate, event: BusEvent) =>
    matcher === null || matcher.failing(event.payload) === -1;
  if (candidates.length > MOST_SHARED) {
    return (event) => {
      const found = candidates.filter((candidate) => accepts(candidate, event));
      return found.length === 0 ? null : found.map(({ input }) => input);
    };
  }
  const lists: (readonly number[] | undefined)[] = [];
  return (event) => {
    let bits = 0;
    for (let at = 0; at < candidates.length; at++) {
      if (accepts(candidates[at] as Candidate, event)) bits |= 1 << at;
    }
    if (bits === 0) return null;
    return lists[bits] ??= candidates.filter((_, at) => (bits & (1 << at)) !== 0).map(({ input }) => input);
  };
}
