import assert from "node:assert/strict";
import { constants } from "node:os";
import type { Grants } from "../../../src/sandbox/policy.ts";
import type { DeniedCounts, SandboxRun } from "../../../src/sandbox/result.ts";
import type { World } from "./world.ts";

/** One thing that a hook tries, and what must come of it. */
export interface AttackCase {
  /** Number of its family in docs/sandbox.md. */
  family: number;
  name: string;
  /** The attacker's operation with its arguments, or `program` instead. */
  attack?: (world: World) => (string | number)[];
  /** A program of the system, by its name in `World.programs`, with its arguments. */
  program?: (world: World) => [string, ...string[]];
  grants?: (world: World) => Partial<Grants>;
  /** As the operator's `deny_read`. */
  denyRead?: (world: World) => string[];
  stdin?: string;
  timeoutMs?: number;
  /** Acts as under this older Landlock. */
  abi?: number;
  /** Done to the world once the attacker has written `ready`. */
  meanwhile?: (world: World) => void;
  /** Only where a folder can be mounted at a second place. */
  needsMounts?: boolean;
  /** False: not tried without a sandbox, where it would harm the machine. */
  control?: boolean;
  expect: Expectation;
}

export interface Outcome {
  run: SandboxRun;
  world: World;
  /** What the attacker said; absent when it did not come to that. */
  answer: { result: number; errno: number; text: string } | undefined;
  /** Where its stdout is not at hand: whether it said something, as far as can be told. */
  says?: (text: string) => boolean;
}

/** Throws when the outcome is not the right one. */
export type Expectation = (outcome: Outcome) => void;

/** Refused with one of these errnos. */
export function refused(...names: (keyof typeof constants.errno)[]): Expectation {
  return ({ answer, run }) => {
    assert.ok(answer, `no answer: ${JSON.stringify({ ...run, stdout: undefined })}`);
    assert.ok(answer.result < 0, `it worked: ${JSON.stringify(answer)}`);
    assert.ok(
      names.some((name) => constants.errno[name] === answer.errno),
      `errno ${errnoName(answer.errno)}, not ${names.join(" or ")}`,
    );
  };
}

/** Refused, and seen by the helper. */
export function counted(kind: keyof DeniedCounts, ...names: (keyof typeof constants.errno)[]): Expectation {
  return (outcome) => {
    refused(...names)(outcome);
    assert.ok((outcome.run.denied?.[kind] ?? 0) > 0, `${String(kind)} was not counted`);
  };
}

/** Works, and says this. */
export function works(text?: string): Expectation {
  return ({ answer, run, says }) => {
    const failure = () =>
      `it failed: ${JSON.stringify(answer)} ${run.outcome} ${run.reason ?? ""} ${run.stderrTail}`;
    assert.equal(run.outcome, "ok", failure());
    if (text !== undefined) {
      const said = says ? says(text) : run.stdoutText.includes(text);
      assert.ok(said, `it did not say ${text}: ${run.stdoutText}`);
    }
  };
}

/** The program ends with an error; what the helper counted, if anything. */
export function fails(kind?: keyof DeniedCounts): Expectation {
  return ({ run }) => {
    assert.ok(["exit", "signal"].includes(run.outcome), `it was ${run.outcome}: ${run.stdoutText}`);
    if (kind) assert.ok((run.denied?.[kind] ?? 0) > 0, `${String(kind)} was not counted: ${run.stderrTail}`);
  };
}

export function killedBy(signal: string): Expectation {
  return ({ run }) => assert.equal(run.signal, signal, `${run.outcome} ${run.stdoutText}`);
}

/** Did not start, for a reason with this text. */
export function notStarted(text: string): Expectation {
  return ({ run }) => {
    assert.equal(run.outcome, "launch_failed", `${run.outcome} ${run.reason ?? ""}`);
    assert.ok(run.reason?.includes(text), `the reason is ${run.reason}`);
  };
}

/** All of these. */
export function both(...expectations: Expectation[]): Expectation {
  return (outcome) => expectations.forEach((expectation) => expectation(outcome));
}

function errnoName(number: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? String(number);
}
