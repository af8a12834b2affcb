import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { type AllowlistOptions, openAllowlist } from "../../src/consent/allowlist.ts";
import {
  canonicalKey,
  type ConsentKey,
  consentKeys,
  type ConsentKeysOptions,
  type ConsentRequest,
} from "../../src/consent/consent_key.ts";
import { compileGlob } from "../../src/match/mod.ts";

export const NOON = Date.UTC(2026, 10, 30, 12);

export const HEX = (digit: string): string => digit.repeat(64);

type KeyParts = Partial<Omit<ConsentKey, "grants">> & { grants?: Partial<ConsentKey["grants"]> };

/** A key that was made by nobody: `/bin/true` in `/srv/app` at the floor, but for what is given. */
export function key(parts: KeyParts = {}): ConsentKey {
  return canonicalKey({
    argv: ["/bin/true"],
    cwd: "/srv/app",
    envNames: [],
    backend: "landlock",
    files: {},
    ...parts,
    grants: { subprocess: false, network: false, writePaths: [], readPaths: [], ...parts.grants },
  });
}

export function request(
  cwd: string,
  argv: readonly string[],
  rest: Partial<ConsentRequest> = {},
): ConsentRequest {
  return {
    argv,
    cwd,
    grants: { subprocess: false, network: false, writePaths: [] },
    envNames: [],
    backend: "landlock",
    consentFiles: [],
    ...rest,
  };
}

export function keysOf(options: Partial<ConsentKeysOptions> = {}) {
  const keys = consentKeys({ compileGlob, ...options });
  return {
    ...keys,
    async of(wanted: ConsentRequest): Promise<ConsentKey> {
      const found = await keys.compute(wanted);
      assert.ok(found.ok, JSON.stringify(found));
      return found.key;
    },
  };
}

export function allowlistAt(path: string, options: Partial<AllowlistOptions> = {}) {
  return openAllowlist({ path, clock: virtualClock(NOON), ...options });
}

/** Starts a script of this folder with the runtime that runs the tests. */
export function runScript(name: string, ...args: string[]): ChildProcess {
  const flags = process.versions.deno === undefined ? [] : ["run", "-A", "--no-check", "--quiet"];
  return spawn(process.execPath, [...flags, fileURLToPath(new URL(name, import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The first line that a child prints. */
export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let printed = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      const end = printed.indexOf("\n");
      if (end >= 0) resolve(printed.slice(0, end));
    });
    child.once("close", () => resolve(printed.split("\n")[0] ?? ""));
  });
}

export function exitCode(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}
