import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";

/** Stamps texts so that whoever keeps them can show that they come from here. */
export type Stamp = (text: string) => string;

const BYTES = 32;

/**
 * A stamp with a secret of the operator's account, kept in the file (absolute; made where it is missing). Where it cannot be
 * kept, or others could have read or written it, the secret is one of this process alone: what was stamped before is not known
 * again. Looks at the file when it is first used. Never throws.
 */
export function operatorStamp(file: string): Stamp {
  let secret: Uint8Array | undefined;
  return (text) => {
    secret ??= kept(file) ?? made(file) ?? randomBytes(BYTES);
    return createHmac("sha256", secret).update(text).digest("hex");
  };
}

function kept(file: string): Uint8Array | undefined {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(fd);
      const isOurs = stat.isFile() && stat.uid === process.geteuid?.() && (stat.mode & 0o7177) === 0;
      if (!isOurs || stat.size !== 2 * BYTES) return undefined;
      const secret = Buffer.from(readFileSync(fd, "utf8"), "hex");
      return secret.length === BYTES ? secret : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function made(file: string): Uint8Array | undefined {
  const secret = randomBytes(BYTES);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, secret.toString("hex"), { flag: "wx", mode: 0o600 });
    return secret;
  } catch {
    // Another process may just have made it.
    return kept(file);
  }
}
