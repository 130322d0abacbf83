/** Something for each credential, made when it is asked for. */
export interface PerCredential<T> {
  of(credential: string): T;
}

/** Idle ones are looked for when there are this many, and then each time there are twice as many as were left. */
const MANY = 1_000;

/**
 * Keeps what belongs to idle credentials until there are many. A `Map` whose entries come and go with every request makes garbage that
 * the young generation's collector cannot see as such: each table it leaves behind points to the next one.
 */
export function createPerCredential<T>(create: () => T, isIdle: (value: T) => boolean): PerCredential<T> {
  const values = new Map<string, T>();
  let limit = MANY;

  function sweep(): void {
    for (const [credential, value] of values) {
      if (isIdle(value)) {
        values.delete(credential);
      }
    }
    limit = Math.max(MANY, 2 * values.size);
  }

  return {
    of(credential) {
      const known = values.get(credential);
      if (known !== undefined) {
        return known;
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
