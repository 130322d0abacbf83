import { fileFingerprint } from './text-file.ts';

/** Values read from files, by the names of the files. */
export interface SettledFiles<Value> {
  /**
   * Looks at the files, and reads those that have changed since they were last read but not since `SETTLE_MS`. The first look reads all.
   *
   * @param files paths by name; a name that is missing keeps its value until it has been missing for `SETTLE_MS`
   * @returns whether a value is new or gone
   */
  look(files: Iterable<readonly [name: string, path: string]>): boolean;
  /** Returns the values of the last look, as functions: if reading a file failed, its function throws that error. */
  values(): ReadonlyMap<string, () => Value>;
  /** Whether another look should follow soon, because a file may still be written. */
  isSettling(): boolean;
}

interface Entry {
  /** Fingerprint of the last look, and the time of the first look that found it. */
  seen: string;
  since: number;
  /** Fingerprint when the value was read; undefined if it was never read. */
  used?: string;
}

/** Time for which a changed file must stay the same before it is read: programs write files in pieces. */
const SETTLE_MS = 250;

const MISSING = 'missing';

/**
 * Creates a reader that never uses a file while it is being written: it reads only what two looks found the same, and looks again after reading.
 *
 * @param read reads one file
 */
export function createSettledFiles<Value>(read: (path: string) => Value): SettledFiles<Value> {
  const entries = new Map<string, Entry>();
  const values = new Map<string, () => Value>();
  let isFirstLook = true;
  let isSettling = false;

  /** Returns whether the value of the file is new or gone. */
  function lookAt(name: string, path: string | undefined, time: number): boolean {
    const found = path === undefined ? MISSING : fileFingerprint(path);
    const entry: Entry = entries.get(name) ?? { seen: found, since: time };
    entries.set(name, entry);
    if (entry.seen !== found) {
      entry.seen = found;
      entry.since = time;
    }
    if (entry.used === found) {
      return false;
    }
    // guard: test/auth/tenant-keys.test.ts
    if (!isFirstLook && time - entry.since < SETTLE_MS) {
      isSettling = true;
      return false;
    }
    if (path === undefined) {
      entries.delete(name);
      return values.delete(name);
    }
    const value = attempt(() => read(path));
    if (!isFirstLook && fileFingerprint(path) !== found) {
      isSettling = true;
      return false;
    }
    entry.used = found;
    values.set(name, value);
    return true;
  }

  return {
    look(files) {
      const paths = new Map(files);
      const time = performance.now();
      // guard: test/auth/tenant-keys.test.ts
      isSettling = isFirstLook; // Nothing is known about the time before the first look.
      const names = new Set([...paths.keys(), ...entries.keys()]);
      const changed = [...names].filter((name) => lookAt(name, paths.get(name), time));
      isFirstLook = false;
      return changed.length > 0;
    },
    values: () => values,
    isSettling: () => isSettling,
  };
}

/** Calls a function, and returns one with the same outcome. */
function attempt<Value>(run: () => Value): () => Value {
  try {
    const value = run();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
