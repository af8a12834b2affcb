import type { Composer } from "../../src/composers/composer.ts";

/** An event as the model sees it: when, on which key, and which inputs it matches (a deadline's `until` is 1). */
export interface Step {
  id: string;
  at: number;
  key: string;
  inputs: number[];
  cancels: boolean;
}

interface Round {
  key: string;
  events: Step[];
  first: number;
  last: number;
}

/**
 * What a composer does with a timeline, said as plainly as it can be: rounds in a list, searched from end to end,
 * everything worked out again from the events. For each key, its outcomes in order.
 */
export function model(composer: Composer, steps: readonly Step[], end: number): Map<string, string[]> {
  const outcomes = new Map<string, string[]>();
  let rounds: Round[] = [];
  const tell = (key: string, what: string) => outcomes.set(key, [...(outcomes.get(key) ?? []), what]);
  const fire = (key: string, events: Step[]) => tell(key, `fire ${events.map(({ id }) => id).join(" ")}`);
  const leave = (round: Round) => rounds = rounds.filter((one) => one !== round);

  const due = (round: Round): number => {
    if (composer.op !== "debounce") return round.first + composer.ttlMs;
    return Math.min(round.last + composer.ttlMs, round.first + (composer.maxWaitMs ?? Infinity));
  };

  const letTimePass = (until: number): void => {
    for (;;) {
      const next = [...rounds].sort((a, b) => due(a) - due(b))[0];
      if (!next || due(next) > until) return;
      leave(next);
      if (["window", "debounce", "deadline"].includes(composer.op)) fire(next.key, next.events);
      else tell(next.key, "ttl_evict");
    }
  };

  const mayBegin = (step: Step): boolean => {
    if (composer.op === "seq") return step.inputs.includes(0);
    if (composer.op === "deadline") return !step.inputs.includes(1);
    return true;
  };

  /** The round to go on with; undefined: the event begins none. */
  const roundFor = (step: Step): Round | undefined => {
    const there = rounds.find(({ key }) => key === step.key);
    if (there) return there;
    if (!mayBegin(step)) return undefined;
    if (rounds.length >= composer.capacity) {
      if (composer.overflow === "drop_newest") return void tell(step.key, "capacity_drop_newest");
      if (composer.overflow === "reject") return void tell(step.key, "capacity_reject");
      const oldest = rounds.reduce((a, b) => b.first < a.first ? b : a);
      leave(oldest);
      tell(oldest.key, "capacity_drop_oldest");
    }
    const round = { key: step.key, events: [], first: step.at, last: step.at };
    rounds.push(round);
    return round;
  };

  const isComplete = ({ events }: Round): boolean => {
    switch (composer.op) {
      case "all":
      case "correlate_by":
        return composer.inputs.every((_, input) => events.some(({ inputs }) => inputs.includes(input)));
      case "seq":
        return events.length === composer.inputs.length;
      case "count":
        return events.length === composer.count;
      default:
        return false;
    }
  };

  const cap = (round: Round): void => {
    if (round.events.length <= composer.maxEventsPerKey) return;
    tell(round.key, "per_key_event_cap");
    const covers = (events: Step[]) => new Set(events.flatMap(({ inputs }) => inputs)).size;
    const needsAll = composer.op === "all" || composer.op === "correlate_by";
    const at = needsAll
      ? round.events.findIndex((event) =>
        covers(round.events.filter((one) => one !== event)) === covers(round.events)
      )
      : 0;
    round.events = round.events.filter((_, index) => index !== at);
  };

  for (const step of steps) {
    letTimePass(step.at);
    if (composer.op === "any") {
      if (!step.cancels) fire(step.key, [step]);
      continue;
    }
    const there = rounds.find(({ key }) => key === step.key);
    if (step.cancels) {
      if (there) {
        leave(there);
        tell(step.key, "cancelled");
      }
      continue;
    }
    if (composer.op === "deadline" && there) {
      if (step.inputs.includes(1)) leave(there);
      continue;
    }
    if (composer.op === "seq" && there && !step.inputs.includes(there.events.length)) {
      const again = step.inputs.includes(0);
      if (!again || there.events.length > 1) tell(step.key, "out_of_order");
      leave(there);
      if (!again) continue;
    }
    const round = roundFor(step);
    if (!round) continue;
    round.last = step.at;
    round.events = composer.op === "debounce" ? [step] : [...round.events, step];
    cap(round);
    if (!isComplete(round)) continue;
    leave(round);
    fire(round.key, round.events);
  }
  letTimePass(end);
  return outcomes;
}
