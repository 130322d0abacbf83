// Drops root privileges, because root ignores file permissions.

const NOBODY = 65_534;

/** Disposing the result restores the privileges. */
export function dropPrivileges(): Disposable {
  const user = process.geteuid?.();
  if (user === 0) {
    process.seteuid?.(NOBODY);
  }
  return { [Symbol.dispose]: () => void (user === 0 && process.seteuid?.(user)) };
}
