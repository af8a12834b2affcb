/** Whether a failure is one of the system's named ones, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" &&
    codes.includes(error.code);
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
