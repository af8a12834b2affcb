import { statSync } from "node:fs";
import { innerFiles, readStartupFiles } from "../config/load_layers.ts";
import { sessionFile } from "../config/control_paths.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { type Configuration, loadForSession, requireNames } from "./configuration.ts";
import { homeFolder } from "./surroundings.ts";

/** What sessions are loaded with in a process that lives long. */
export interface Configurations {
  /** The operator and startup files are those of the start; the others are looked at each time. */
  of(ref: SessionRef): Configuration;
  /** What sessions of that agent share. */
  agent(name: string): Configuration;
}

/**
 * Reads the operator and startup files once. What is compiled for one session serves all of its agent that have no file of their
 * own, for as long as the files of runtime and agent layer stay what they are.
 */
export function configurations(controlDir: string): Configurations {
  const startup = readStartupFiles({ controlDir, home: homeFolder(controlDir) });
  const shared = new Map<string, { signature: string; configuration: Configuration }>();

  const sharedOf = (agent: string): Configuration => {
    const signature = innerFiles({ controlDir, agent }).map(({ path }) => signatureOf(path)).join(" ");
    const known = shared.get(agent);
    if (known?.signature === signature) return known.configuration;
    const configuration = loadForSession({ controlDir, agent, sid: null, startup });
    if (configuration.usable) shared.set(agent, { signature, configuration });
    return configuration;
  };

  /** Composers name their own session, so that what holds one is nobody else's. */
  const shareable = (agent: string): Configuration | undefined => {
    const configuration = sharedOf(agent);
    return configuration.usable && configuration.composers.length === 0 ? configuration : undefined;
  };

  return {
    agent: (agent) => shareable(agent) ?? loadForSession({ controlDir, agent, sid: "main", startup }),
    of({ agent, sid }) {
      requireNames(agent, sid);
      if (signatureOf(sessionFile(controlDir, agent, sid).path) !== "-") {
        return loadForSession({ controlDir, agent, sid, startup });
      }
      const configuration = shareable(agent);
      if (!configuration) return loadForSession({ controlDir, agent, sid, startup });
      return { ...configuration, sid, session: { ...configuration.session, sid } };
    },
  };
}

/** `-` where there is nothing. What cannot be looked at is for the reader to report. */
function signatureOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.dev}.${found.ino}.${found.size}.${found.mtimeMs}.${found.ctimeMs}` : "-";
  } catch {
    return "?";
  }
}
