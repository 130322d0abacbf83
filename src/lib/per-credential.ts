// Values of credentials, such as the number of their requests in flight.

/** Number of values from which unused ones are removed. Then they are removed whenever the number of remaining values has doubled. */
const MIN_SWEEP_SIZE = 1_000;

/** Number of values from which unused ones are removed even if they are to be kept: there are services that accept any key. */
const MAX_KEPT = 10_000;

export type PerCredential<T> = ReturnType<typeof createPerCredential<T>>;

/**
 * Creates a collection that keeps unused values until there are many. A `Map` whose entries are added and removed with every request creates garbage
 * that V8's young-generation collector can't free, because each old hash table points to the next one.
 *
 * None is removed between `enter` and `leave`, while a call uses it.
 *
 * @param isKept whether an unused value is kept while there are at most 10,000. @default none is
 */
export function createPerCredential<T>(create: () => T, isKept: (value: T) => boolean = () => false) {
  const entries = new Map<string, { value: T; users: number }>();
  let limit = MIN_SWEEP_SIZE;

  function removeUnused(isRemoved: (value: T) => boolean): void {
    for (const [credential, { value, users }] of entries) {
      if (users === 0 && isRemoved(value)) {
        entries.delete(credential);
      }
    }
  }

  function sweep(): void {
    removeUnused((value) => !isKept(value));
    if (entries.size > MAX_KEPT) {
      removeUnused(() => true);
    }
    limit = Math.max(MIN_SWEEP_SIZE, 2 * entries.size);
  }

  return {
    /** Returns the value of a credential, and creates it if necessary. It stays the value of the credential until `leave` was called as often. */
    enter(credential: string): T {
      let entry = entries.get(credential);
      if (entry === undefined) {
        if (entries.size >= limit) {
          sweep();
        }
        entry = { value: create(), users: 0 };
        entries.set(credential, entry);
      }
      entry.users += 1;
      return entry.value;
    },
    /** Returns the value of a credential if there is one. It may be removed at any time. */
    find: (credential: string): Readonly<T> | undefined => entries.get(credential)?.value,
    leave(credential: string): T {
      const entry = entries.get(credential);
      if (entry === undefined || entry.users === 0) {
        throw new Error('The value of a credential was left more often than entered.');
      }
      entry.users -= 1;
      return entry.value;
    },
  };
}
