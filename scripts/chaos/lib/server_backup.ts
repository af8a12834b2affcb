import { rm } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "../../lib/repo.ts";
import { pause } from "./process.ts";
import { checkServed } from "./server_check.ts";
import type { ServerCampaign } from "./server_campaign.ts";
import { readStored } from "./stored.ts";

export interface BackupTry {
  /** Killed after so many milliseconds. */
  cut?: number;
  /** Kills itself at this label. */
  killAt?: string;
}

/**
 * Makes a backup beside a server that runs, looks at it, and removes it. One that was made holds all that was acknowledged
 * before; one that was killed is whole or not there.
 */
export async function tryBackup(
  campaign: ServerCampaign,
  name: string,
  { cut, killAt }: BackupTry = {},
): Promise<"whole" | "killed" | "failed"> {
  const { world, senders } = campaign;
  const before = senders.sent.map((message) => ({ ...message }));
  const started = world.start(["backup", name], killAt === undefined ? {} : { killAt });
  if (cut !== undefined) {
    await Promise.race([pause(cut), started.ended]);
    started.kill("SIGKILL");
  }
  const run = await started.ended;
  campaign.log(`backup ${run.signal ?? run.code}`);
  campaign.enter(run);
  const there = await exists(join(world.dir, name));
  const stored = await readStored(join(world.dir, name, "state"));
  if (there && !stored) campaign.violated(`a backup (${run.signal ?? run.code}) is there without a database`);
  if (there && !await exists(join(world.dir, name, "backup.json"))) {
    campaign.violated(`a backup (${run.signal ?? run.code}) is there without its backup.json`);
  }
  if (stored) {
    // Of what was sent meanwhile some may be in it.
    const sent = senders.sent.map((message, at) => ({
      ...message,
      acknowledged: before[at]?.acknowledged === true,
    }));
    for (const one of checkServed(stored, sent, { settled: false })) campaign.violated(`backup: ${one}`);
  }
  await rm(join(world.dir, name), { recursive: true, force: true });
  if (run.code === 0) {
    if (!stored) campaign.violated("a backup that was told as made is not there");
    return "whole";
  }
  if (run.signal === "SIGKILL" && !run.hung) return "killed";
  campaign.violated(`backup gave ${run.signal ?? run.code}: ${run.stderr.slice(0, 300)}`);
  return "failed";
}
