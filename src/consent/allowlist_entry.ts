import { z } from "zod";
import { canonicalKey, type ConsentKey } from "./consent_key.ts";
import { shownCommand } from "./shown_command.ts";

/** One approval as it stands in the file. `key` is null where the entry approves nothing; `reason` says why. */
export interface AllowlistEntry {
  /** For people; what counts is the key. */
  command: string;
  /** ISO 8601, UTC. */
  approvedAt: string;
  /** The hook it was approved for. The approval is the command's, whichever hook runs it. */
  hook: string | null;
  key: ConsentKey | null;
  reason?: string;
}

const ownForm = z.strictObject({
  command: z.string(),
  approved_at: z.string(),
  hook: z.string().nullable(),
  argv: z.array(z.string()).min(1),
  cwd: z.string(),
  grants: z.strictObject({
    subprocess: z.boolean(),
    network: z.union([z.boolean(), z.array(z.string())]),
    write_paths: z.array(z.string()),
    read_paths: z.array(z.string()),
  }),
  env: z.array(z.string()),
  backend: z.string(),
  files: z.record(z.string(), z.string()),
  config: z.record(z.string(), z.string()).optional(),
});

const olderForm = z.object({ command: z.string(), approved_at: z.string(), script_mtime: z.unknown() });

/** What one element of the file's array approves. Strict: an entry with anything more or less approves nothing. */
export function readEntry(value: unknown): AllowlistEntry {
  const own = ownForm.safeParse(value);
  if (own.success) {
    const { command, approved_at: approvedAt, hook, argv, cwd, grants, env, backend, files, config } =
      own.data;
    const key = canonicalKey({
      argv,
      cwd,
      grants: {
        subprocess: grants.subprocess,
        network: grants.network,
        writePaths: grants.write_paths,
        readPaths: grants.read_paths,
      },
      envNames: env,
      backend,
      files,
      ...(config ? { config } : {}),
    });
    const told = { command, approvedAt, hook };
    // Whoever reads the file reads the command.
    return command === shownCommand(argv)
      ? { ...told, key }
      : { ...told, key: null, reason: "its command is not that of its argv" };
  }
  const older = olderForm.safeParse(value);
  if (!older.success) {
    return {
      command: "",
      approvedAt: "",
      hook: null,
      key: null,
      reason: "not of a form that reyn knows",
    };
  }
  const { command, approved_at: approvedAt } = older.data;
  const reason = "of an older form, which is bound to no folder, grants or content";
  return { command, approvedAt, hook: null, key: null, reason };
}

/** The element of the file's array for a new approval. */
export function writeEntry(key: ConsentKey, hook: string | null, nowMs: number): unknown {
  return {
    command: shownCommand(key.argv),
    approved_at: new Date(nowMs).toISOString(),
    hook,
    ...keyFields(key),
  };
}

/** A key with the names that it has outside of reyn. */
export function keyFields(key: ConsentKey) {
  const { subprocess, network, writePaths, readPaths } = key.grants;
  return {
    argv: key.argv,
    cwd: key.cwd,
    grants: { subprocess, network, write_paths: writePaths, read_paths: readPaths },
    env: key.envNames,
    backend: key.backend,
    files: key.files,
    ...(Object.keys(key.config).length > 0 ? { config: key.config } : {}),
  };
}
