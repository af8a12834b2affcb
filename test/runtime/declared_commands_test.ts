import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { sessionFile } from "../../src/config/control_paths.ts";
import { loadForSession } from "../../src/runtime/configuration.ts";
import { type DeclaredCommands, declaredCommands } from "../../src/runtime/declared_commands.ts";

const SOUND = { partial: false };

describe("the commands that are declared", () => {
  it("are those of all sessions that are loaded, each once", () =>
    inFolder(({ declared, hooks }) => {
      declared.loaded(ref("a"), hooks("x", "y"), SOUND);
      declared.loaded(ref("b"), hooks("y", "z"), SOUND);
      assert.deepEqual(programs(declared), ["x", "y", "z"]);
    }));

  it("go with a session that has no file of its own, but for what its agent was last loaded with", () =>
    inFolder(({ declared, hooks }) => {
      declared.loaded(ref("a"), hooks("old"), SOUND);
      declared.loaded(ref("b"), hooks("new"), SOUND);
      assert.deepEqual(programs(declared), ["new", "old"]);
      declared.gone(ref("a"));
      assert.deepEqual(programs(declared), ["new"]);
      declared.gone(ref("b"));
      assert.deepEqual(programs(declared), ["new"]);
    }));

  it("stay as long as the file that declares them does, whether its session is loaded or not", () =>
    inFolder(({ declared, hooks, file }) => {
      const remove = file("a");
      declared.loaded(ref("a"), hooks("mine"), SOUND);
      declared.gone(ref("a"));
      assert.deepEqual(programs(declared), ["mine"]);
      declared.loaded(ref("a"), hooks("changed"), SOUND);
      remove();
      assert.deepEqual(programs(declared), ["changed"]);
      declared.gone(ref("a"));
      assert.deepEqual(programs(declared), []);
    }));

  it("stay while a layer that may declare them cannot be read", () =>
    inFolder(({ declared, hooks }) => {
      declared.loaded(ref("a"), hooks("x", "y"), SOUND);
      declared.gone(ref("a"));
      declared.loaded(ref("a"), hooks("x"), { partial: true });
      assert.deepEqual(programs(declared), ["x", "y"]);
      declared.gone(ref("a"));
      declared.loaded(ref("a"), hooks("x"), SOUND);
      assert.deepEqual(programs(declared), ["x"]);
    }));

  it("do not add up over sessions that come and go with files of their own", () =>
    inFolder(({ declared, hooks, file }) => {
      hooks(...Array.from({ length: 600 }, (_, n) => `p${n}`)).forEach((hook, n) => {
        const remove = file(`s${n}`);
        declared.loaded(ref(`s${n}`), [hook], SOUND);
        declared.gone(ref(`s${n}`));
        remove();
      });
      assert.ok(declared.all().length <= 256, `${declared.all().length} are left`);
    }));
});

function ref(sid: string) {
  return { agent: "default", sid };
}

function programs(declared: DeclaredCommands): string[] {
  return declared.all().map(({ argv }) => argv[0] ?? "").sort();
}

interface Folder {
  declared: DeclaredCommands;
  /** Hooks that run these programs. */
  hooks(...programs: string[]): ReturnType<typeof loadForSession>["hooks"];
  /** Gives a session a file of its own; the returned function takes it away. */
  file(sid: string): () => void;
}

function inFolder(body: (folder: Folder) => void): void {
  const controlDir = mkdtempSync(join(tmpdir(), "reyn-declared-"));
  try {
    body({
      declared: declaredCommands(controlDir),
      hooks(...programs) {
        const entries = programs.map((one) => `{ on: turn_end, name: "${one}", exec: ["${one}"] }`);
        writeFileSync(join(controlDir, "reyn.yaml"), `hooks: [${entries.join(", ")}]\n`);
        return loadForSession({ controlDir, agent: "default", sid: "main" }).hooks;
      },
      file(sid) {
        const { path } = sessionFile(controlDir, "default", sid);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "hooks: []\n");
        return () => rmSync(path);
      },
    });
  } finally {
    rmSync(controlDir, { recursive: true, force: true });
  }
}
