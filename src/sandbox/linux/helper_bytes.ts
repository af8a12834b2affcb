import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** The helper for one architecture, with the digest it must have. */
export interface HelperBytes {
  bytes: Uint8Array;
  sha256: string;
}

export type HelperLoad = { ok: true; helper: HelperBytes } | { ok: false; reason: string };

/** The embedded helper for an architecture, as Node names it. Refuses an unknown one, and bytes of a wrong digest. */
export async function loadHelper(arch: string): Promise<HelperLoad> {
  const module = await embedded(arch);
  if (!module) return { ok: false, reason: `there is no helper for the architecture ${arch}` };
  return verify({ bytes: Buffer.from(module.BASE64, "base64"), sha256: module.SHA256 });
}

/** Refuses bytes that do not have their digest. */
export function verify(helper: HelperBytes): HelperLoad {
  if (digestOf(helper.bytes) === helper.sha256) return { ok: true, helper };
  return { ok: false, reason: "the embedded helper does not have its sha256" };
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function embedded(arch: string) {
  switch (arch) {
    case "x64":
      return import("./helper_x86_64.ts");
    case "arm64":
      return import("./helper_aarch64.ts");
    default:
      return Promise.resolve(undefined);
  }
}
