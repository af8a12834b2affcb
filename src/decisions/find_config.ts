import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The file that declares decision hooks. */
export interface ConfigPlace {
  /** Absolute. */
  path: string;
  /** As findings show it. */
  shown: string;
  /** Where its relative paths begin: its folder, links resolved. */
  folder: string;
  /**
   * Who vouches for it. `operator`: named by `--config` or REYN_CLI_CONFIG, or in the operator's home; `project`: found in
   * the control folder, so that it needs trust.
   */
  word: "operator" | "project";
}

export interface FindOptions {
  controlDir: string;
  home: string;
  /** `--config`, relative to the working directory. */
  configFile?: string | undefined;
  /** REYN_CLI_CONFIG. */
  envFile?: string | undefined;
}

/** The first of `--config`, REYN_CLI_CONFIG, `.reyn/cli-config.yaml`, `~/.reyn/cli-config.yaml`. A file that is named need not be there. */
export function findConfig({ controlDir, home, configFile, envFile }: FindOptions): ConfigPlace | undefined {
  const named = configFile ?? (envFile === "" ? undefined : envFile);
  if (named !== undefined) {
    const path = resolve(named);
    return { path, shown: named, folder: folderOf(path), word: "operator" };
  }
  const own = join(home, ".reyn", "cli-config.yaml");
  const project = join(controlDir, ".reyn", "cli-config.yaml");
  // With the home as control folder the two are one file.
  if (project !== own && existsSync(project)) {
    return { path: project, shown: ".reyn/cli-config.yaml", folder: folderOf(project), word: "project" };
  }
  if (!existsSync(own)) return undefined;
  return { path: own, shown: "~/.reyn/cli-config.yaml", folder: folderOf(own), word: "operator" };
}

function folderOf(path: string): string {
  try {
    return realpathSync(dirname(path));
  } catch {
    return dirname(path);
  }
}
