import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { busEvent } from "../../src/bus/event.ts";
import {
  type Composer,
  COMPOSER_OPS,
  type ComposerOp,
  type StoredRecord,
} from "../../src/composers/composer.ts";
import { createDurable } from "../../src/composers/durable.ts";
import { createMachine, type Effects, type Machine } from "../../src/composers/machine.ts";
import { restore } from "../../src/composers/restore.ts";
import { routesOf } from "../../src/composers/routes.ts";
import { storedPending } from "../../src/composers/stored.ts";
import { model, type Step } from "./model.ts";
import { composer, input } from "./support.ts";

const TTL = 100;
const TIMELINES = 250;
const LENGTH = 60;

/** A generator of numbers below 1 that gives the same ones for a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A composer of the op with what can differ drawn at random. Inputs overlap: `n` may match several. */
function anyComposer(op: ComposerOp, random: () => number): Composer {
  const pick = <T>(...items: [T, ...T[]]): T => items[Math.floor(random() * items.length)] ?? items[0];
  const count = pick(2, 3, 5);
  const size = op === "deadline" ? 1 : pick(2, 3);
  return composer({
    op,
    inputs: ["a", "b", "c"].slice(0, size).map((kind) => input(pick(kind, kind, "a"))),
    until: op === "deadline" ? input(pick("b", "b", "a"), pick({}, { m: "1" })) : null,
    unless: random() < 0.3 ? [input("stop")] : [],
    ttlMs: TTL,
    capacity: pick(1, 2, 10),
    overflow: pick("drop_oldest", "drop_newest", "reject"),
    maxEventsPerKey: op === "count" ? count : pick(3, 4, 1000),
    correlateBy: op === "correlate_by" || random() < 0.6 ? "k" : null,
    count: op === "count" ? count : null,
    maxWaitMs: op === "debounce" ? pick(null, TTL, 3 * TTL) : null,
    durable: true,
  });
}

interface Happening {
  at: number;
  kind: string;
  payload: Record<string, string>;
  id: string;
}

/** Tries one timeline; with `restarts`, the machine is now and then made anew from what JSON kept of it. */
function run(
  made: Composer,
  happenings: readonly Happening[],
  end: number,
  restarts: (at: number) => boolean,
) {
  const outcomes = new Map<string, string[]>();
  const steps: Step[] = [];
  const tell = (key: string, what: string) => outcomes.set(key, [...(outcomes.get(key) ?? []), what]);
  const effects: Effects = {
    fire: ({ key, events }) => tell(key, `fire ${events.map(({ id }) => id).join(" ")}`),
    drop: (key, reason) => tell(key, reason),
    changed: () => {},
    heldBack: () => {},
  };
  let machine: Machine = createMachine(made, effects);
  let now = 0;
  const time = { now: () => now, toWall: (at: number) => at, fromWall: (at: number) => at };

  const letTimePass = (until: number): void => {
    while (machine.nextDue() <= until) machine.expire(until);
    now = until;
  };

  for (const { at, kind, payload, id } of happenings) {
    if (restarts(at)) {
      const kept: StoredRecord[] = JSON.parse(
        JSON.stringify([...machine.pending()].map((pending) => storedPending(made, pending, time))),
      );
      // Time that went by while nothing ran.
      now = at;
      machine = createMachine(made, effects);
      restore(kept, {
        machines: new Map([[made.name, machine]]),
        routes: routesOf([machine]),
        durable: createDurable(null, time),
        time,
        republish: () => {},
        drop: (_, key, reason) => tell(key, reason),
        lose: () => {},
      });
    }
    letTimePass(at);
    const event = busEvent({ id, kind, payload, chainId: null, at });
    const route = routesOf([machine]).get(kind)?.[0];
    if (!route) continue;
    const cancels = route.cancels?.(event) ?? false;
    const inputs = cancels ? [] : route.inputsOf(event);
    if (inputs === null) continue;
    machine.step(event, inputs, cancels);
    const key = made.correlateBy === null ? "__default__" : payload["k"] ?? "__default__";
    steps.push({ id, at, key, inputs: [...inputs], cancels });
  }
  letTimePass(end);
  return { outcomes, steps };
}

for (const [place, op] of COMPOSER_OPS.entries()) {
  describe(`op ${op}, beside its model`, () => {
    const tryAll = (restartsOf: (random: () => number) => (at: number) => boolean): number => {
      let fires = 0;
      for (let seed = 0; seed < TIMELINES; seed++) {
        const random = randomOf(seed * 100 + place);
        const made = anyComposer(op, random);
        let at = 0;
        const happenings = Array.from({ length: LENGTH }, (_, index): Happening => {
          at += random() < 0.1 ? Math.floor(random() * 2 * TTL) : Math.floor(random() * TTL / 4);
          const kind = ["a", "a", "b", "b", "c", "stop", "other"][Math.floor(random() * 7)] ?? "a";
          const payload: Record<string, string> = { m: random() < 0.5 ? "1" : "2" };
          if (random() < 0.9) payload["k"] = `k${Math.floor(random() * 3)}`;
          return { at, kind, payload, id: `e${index}` };
        });
        const end = at + (random() < 0.5 ? 10 * TTL : 0);
        const { outcomes, steps } = run(made, happenings, end, restartsOf(random));
        const expected = model(made, steps, end);
        const sorted = (map: Map<string, string[]>) =>
          Object.fromEntries([...map].sort(([a], [b]) => a < b ? -1 : 1));
        assert.deepEqual(sorted(outcomes), sorted(expected), `seed ${seed}: ${JSON.stringify(made)}`);
        for (const list of outcomes.values()) fires += list.filter((one) => one.startsWith("fire")).length;
      }
      return fires;
    };

    it("does the same over random events, keys and times", () => {
      assert.ok(tryAll(() => () => false) > TIMELINES);
    });

    it("does the same when it is restarted again and again from what JSON kept", () => {
      assert.ok(tryAll((random) => () => random() < 0.2) > TIMELINES);
    });
  });
}
