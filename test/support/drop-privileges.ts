const NOBODY = 65_534;

/** Takes the rights of root, to whom permissions mean nothing, from this process, if it has them. Disposing gives them back. */
export function dropPrivileges(): Disposable {
  const user = process.geteuid?.();
  if (user === 0) {
    process.seteuid?.(NOBODY);
  }
  return { [Symbol.dispose]: () => void (user === 0 && process.seteuid?.(user)) };
}
