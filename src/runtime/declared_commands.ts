import { lstatSync } from "node:fs";
import { sessionFile } from "../config/control_paths.ts";
import type { ExecAction } from "../hooks/exec_action.ts";
import { commandsOf, type Hook } from "../hooks/hook.ts";
import type { SessionRef } from "../hooks/session_ref.ts";

/** The commands that hooks declare, as far as this process has read: what they name as code is no hook's to write. */
export interface DeclaredCommands {
  /**
   * A session is loaded with these hooks. `partial`: a layer was left out, so that what it declared before counts on until a
   * sound one is read.
   */
  loaded(ref: SessionRef, hooks: readonly Hook[], options: { partial: boolean }): void;
  /** It is not loaded any more. What its own file declares counts on as long as there is that file. */
  gone(ref: SessionRef): void;
  /** Each command once. */
  all(): readonly ExecAction[];
}

/** By what they run. */
type Commands = ReadonlyMap<string, ExecAction>;

interface Holding {
  ref: SessionRef;
  commands: Commands;
  loaded: boolean;
}

/** Sessions that are gone and have a file of their own, before it is first looked whether they still do. */
const FIRST_SWEEP = 256;

export function declaredCommands(controlDir: string): DeclaredCommands {
  /** What sessions of an agent without a file of their own were last loaded with. */
  const ofAgents = new Map<string, Commands>();
  const ofSessions = new Map<string, Holding>();
  const read = new WeakMap<readonly Hook[], Commands>();
  let sweepAt = FIRST_SWEEP;
  let all: readonly ExecAction[] | undefined;

  const commandsIn = (hooks: readonly Hook[]): Commands => {
    const known = read.get(hooks);
    if (known) return known;
    const made = new Map(commandsOf(hooks).map((action) => [keyOf(action), action]));
    read.set(hooks, made);
    return made;
  };

  const hasFile = ({ agent, sid }: SessionRef) => mayExist(sessionFile(controlDir, agent, sid).path);

  const sweep = () => {
    if (ofSessions.size < sweepAt) return;
    for (const [id, { ref, loaded }] of ofSessions) if (!loaded && !hasFile(ref)) ofSessions.delete(id);
    sweepAt = Math.max(FIRST_SWEEP, 2 * ofSessions.size);
  };

  return {
    loaded(ref, hooks, { partial }) {
      const id = `${ref.agent}/${ref.sid}`;
      const found = commandsIn(hooks);
      const with_ = (before: Commands | undefined): Commands =>
        partial && before ? new Map([...before, ...found]) : found;
      const commands = with_(ofSessions.get(id)?.commands);
      ofSessions.set(id, { ref, commands, loaded: true });
      if (!hasFile(ref)) ofAgents.set(ref.agent, with_(ofAgents.get(ref.agent)));
      all = undefined;
      sweep();
    },
    gone(ref) {
      const id = `${ref.agent}/${ref.sid}`;
      const held = ofSessions.get(id);
      if (!held) return;
      if (hasFile(ref)) held.loaded = false;
      else ofSessions.delete(id);
      all = undefined;
    },
    all() {
      if (all) return all;
      const distinct = new Set([
        ...ofAgents.values(),
        ...[...ofSessions.values()].map((one) => one.commands),
      ]);
      return all = [...new Map([...distinct].flatMap((commands) => [...commands])).values()];
    },
  };
}

/** What of an action names code. */
function keyOf({ argv, plugin }: ExecAction): string {
  return JSON.stringify([argv, plugin?.file ?? null]);
}

/** What cannot be looked at may be there. */
function mayExist(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
