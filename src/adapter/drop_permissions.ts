interface Permissions {
  revokeSync(descriptor: { name: string }): unknown;
}

/** On Deno: gives up, for good, what this process may do; `keepFiles` leaves reading and writing. Elsewhere there is nothing to give up. */
export function dropPermissions({ keepFiles }: { keepFiles: boolean }): void {
  const permissions = ownPermissions();
  if (!permissions) return;
  const names = ["run", "ffi", "net", "import", "env", "sys", ...(keepFiles ? [] : ["read", "write"])];
  for (const name of names) {
    try {
      permissions.revokeSync({ name });
    } catch {
      // A version that does not know the name has nothing of it.
    }
  }
}

function ownPermissions(): Permissions | undefined {
  const deno: unknown = Reflect.get(globalThis, "Deno");
  if (typeof deno !== "object" || deno === null) return undefined;
  const permissions: unknown = Reflect.get(deno, "permissions");
  return isPermissions(permissions) ? permissions : undefined;
}

function isPermissions(value: unknown): value is Permissions {
  return typeof value === "object" && value !== null && "revokeSync" in value &&
    typeof value.revokeSync === "function";
}
