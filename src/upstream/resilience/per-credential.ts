/** Collection with one value per credential. */
export interface PerCredential<T> {
  /** Returns the value of a credential, and creates it if necessary. */
  get(credential: string): T;
}

/** Number of values from which idle ones are removed. Then they are removed whenever the number of remaining values has doubled. */
const MIN_SWEEP_SIZE = 1_000;

/**
 * Creates a collection that keeps the values of idle credentials until there are many. A `Map` whose entries are added and removed with
 * every request creates garbage that V8's young-generation collector can't free, because each old hash table points to the next one.
 */
export function createPerCredential<T>(create: () => T, isIdle: (value: T) => boolean): PerCredential<T> {
  const values = new Map<string, T>();
  let limit = MIN_SWEEP_SIZE;

  function sweep(): void {
    for (const [credential, value] of values) {
      if (isIdle(value)) {
        values.delete(credential);
      }
    }
    limit = Math.max(MIN_SWEEP_SIZE, 2 * values.size);
  }

  return {
    get(credential) {
      const existing = values.get(credential);
      if (existing !== undefined) {
        return existing;
      }
      if (values.size >= limit) {
        sweep();
      }
      const value = create();
      values.set(credential, value);
      return value;
    },
  };
}
