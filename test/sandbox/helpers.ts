import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { FLOOR, type Grants, type SandboxPolicy } from "../../src/sandbox/policy.ts";

/** A home and a control folder of a test's own. */
export interface Place {
  root: string;
  home: string;
  control: string;
  /** Writes a file below the root, with the folders above it. */
  write(name: string, text?: string, mode?: number): string;
  policy(grants?: Partial<Grants>, rest?: Partial<SandboxPolicy>): SandboxPolicy;
  remove(): void;
}

export function makePlace(): Place {
  const root = mkdtempSync(path.join(realpathSync(tmpdir()), "reyn-sandbox-"));
  const home = path.join(root, "home");
  const control = path.join(root, "control");
  for (const folder of [home, control]) mkdirSync(folder);
  return {
    root,
    home,
    control,
    write(name, text = "", mode = 0o644) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text, { mode });
      return file;
    },
    policy: (grants = {}, rest = {}) => ({
      controlDir: control,
      homes: [home],
      grants: { ...FLOOR, ...grants },
      denyRead: [],
      readOnly: [],
      ...rest,
    }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
