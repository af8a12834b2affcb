export interface StageResult {
  passed: number;
  failed: number;
  /** Shown when the stage failed. */
  output: string;
  /** One line for the summary: versions, counts. */
  note?: string;
}

export interface Stage {
  name: string;
  /** Stages that have to have ended, well or not, before this one. */
  after?: readonly string[];
  /** Stages without whose success this one makes no sense; it then counts as failed, and says so. */
  needs?: readonly string[];
  /** Uses the whole machine, so that nothing runs beside it. */
  alone?: boolean;
  run(): Promise<StageResult>;
}

export interface FinishedStage extends StageResult {
  name: string;
  seconds: number;
}

/** Runs stages in the order given, at most `lanes` at a time, and tells of each when it ends. */
export async function runStages(
  stages: readonly Stage[],
  lanes: number,
  onEnd: (stage: FinishedStage) => void,
): Promise<FinishedStage[]> {
  const waiting = [...stages];
  const running = new Map<string, { stage: Stage; done: Promise<FinishedStage> }>();
  const finished = new Map<string, FinishedStage>();
  const known = new Set(stages.map((stage) => stage.name));

  const ready = (stage: Stage): boolean =>
    [...(stage.after ?? []), ...(stage.needs ?? [])].every((name) => !known.has(name) || finished.has(name));
  const fits = (stage: Stage): boolean => {
    if (running.size === 0) return true;
    const alone = stage.alone || [...running.values()].some((other) => other.stage.alone);
    return !alone && running.size < lanes;
  };

  while (waiting.length > 0 || running.size > 0) {
    for (const stage of [...waiting]) {
      if (!ready(stage) || !fits(stage)) continue;
      waiting.splice(waiting.indexOf(stage), 1);
      const broken = (stage.needs ?? []).filter((name) => (finished.get(name)?.failed ?? 0) > 0);
      running.set(stage.name, { stage, done: runStage(stage, broken) });
    }
    if (running.size === 0) {
      throw new Error(`stages wait for each other: ${waiting.map((s) => s.name).join(", ")}`);
    }
    const ended = await Promise.race([...running.values()].map(({ done }) => done));
    running.delete(ended.name);
    finished.set(ended.name, ended);
    onEnd(ended);
  }
  return stages.flatMap((stage) => finished.get(stage.name) ?? []);
}

async function runStage(stage: Stage, broken: readonly string[]): Promise<FinishedStage> {
  const started = performance.now();
  const result =
    await (broken.length > 0
      ? { passed: 0, failed: 1, output: `not run, because it needs: ${broken.join(", ")}` }
      : stage.run().catch((error: unknown) => ({
        passed: 0,
        failed: 1,
        output: error instanceof Error ? error.stack ?? error.message : String(error),
      })));
  return { ...result, name: stage.name, seconds: (performance.now() - started) / 1000 };
}
