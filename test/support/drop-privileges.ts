const NOBODY = 65_534;

/** Drops root privileges, because root ignores file permissions. Disposing restores them. */
export function dropPrivileges(): Disposable {
  const user = process.geteuid?.();
  if (user === 0) {
    process.seteuid?.(NOBODY);
  }
  return { [Symbol.dispose]: () => void (user === 0 && process.seteuid?.(user)) };
}
