import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { REPO } from "../lib/repo.ts";
import type { Target } from "./toolchain.ts";

const MODULE_DIR = join(REPO, "src/sandbox/linux");

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function modulePath(target: Target): string {
  return join(MODULE_DIR, `helper_${target.name}.ts`);
}

/** Writes the module that carries the helper of one architecture. */
export async function embed(target: Target, bytes: Uint8Array, sourceDigest: string): Promise<void> {
  const text = [
    `// Written by scripts/helper.ts from src/sandbox/linux/helper; do not edit.`,
    `export const SOURCE_SHA256 = "${sourceDigest}";`,
    `export const SHA256 = "${sha256(bytes)}";`,
    `export const BASE64 =`,
    `  "${Buffer.from(bytes).toString("base64")}";`,
    "",
  ].join("\n");
  await writeFile(modulePath(target), text);
}

export interface Embedded {
  sourceDigest: string;
  sha256: string;
  bytes: Uint8Array;
}

export async function readEmbedded(target: Target): Promise<Embedded> {
  const text = await readFile(modulePath(target), "utf8");
  const value = (name: string) => new RegExp(`const ${name} =\\s+"([^"]*)"`).exec(text)?.[1] ?? "";
  return {
    sourceDigest: value("SOURCE_SHA256"),
    sha256: value("SHA256"),
    bytes: Buffer.from(value("BASE64"), "base64"),
  };
}
