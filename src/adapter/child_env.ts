export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Names that make a program run code, or read options, that its command line does not show: the dynamic linker's
 * (LD_*, DYLD_*), Node's, and Bun's, where BUN_OPTIONS and BUN_BE_BUN take over any binary that Bun compiled,
 * reyn itself included.
 */
const INJECTING = [/^BUN_/, /^NODE_OPTIONS$/, /^LD_/, /^DYLD_/];

/** The environment for a child process: `env` and `extra` (which wins), without the names that inject code. */
export function childEnv(env: Environment, extra: Environment = {}): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...env, ...extra })) {
    if (value === undefined || INJECTING.some((pattern) => pattern.test(name))) continue;
    result[name] = value;
  }
  return result;
}
