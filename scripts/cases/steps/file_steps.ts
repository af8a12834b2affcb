import { appendFile, chmod, mkdir, open, rename, rm, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import type { Step } from "../format.ts";
import { contentBytes } from "../values.ts";
import { pathIn, placeFile, type World } from "../world.ts";

type FileStep = Extract<Step, { kind: "write" | "append" | "touch" | "remove" | "rename" | "chmod" }>;

export async function runFileStep(world: World, step: FileStep): Promise<void> {
  switch (step.kind) {
    case "write":
      for (const [path, spec] of Object.entries(step.write)) await placeFile(world, path, spec);
      return;
    case "append": {
      const path = pathIn(world, step.append.path);
      await mkdir(dirname(path), { recursive: true });
      return await appendFile(path, await contentBytes(step.append.content, world.caseFolder));
    }
    case "touch": {
      const path = pathIn(world, step.touch);
      await mkdir(dirname(path), { recursive: true });
      await (await open(path, "a")).close();
      const now = new Date();
      return await utimes(path, now, now);
    }
    case "remove":
      return await rm(pathIn(world, step.remove), { recursive: true });
    case "rename":
      return await rename(pathIn(world, step.rename.from), pathIn(world, step.rename.to));
    case "chmod":
      return await chmod(pathIn(world, step.chmod.path), step.chmod.mode);
  }
}
