// Reads files again when they have changed.

import type { Logger } from 'pino';

/** Content of files that can be replaced while the process runs. */
export interface WatchedFiles {
  /** Name of their content, such as `tenant keys`, in the log and in metrics. */
  readonly name: string;
  /**
   * Looks at the files, and reads them if they have changed but not since the previous look.
   *
   * @returns whether another look should follow soon, because they may still be written
   * @throws {Error} if they have changed and are invalid. What is invalid keeps its previous content
   */
  look(): boolean;
  /** Returns the time since which a change of them is rejected, in seconds since the Unix epoch; 0 while they are valid. */
  invalidSince(): number;
  /** Returns the time at which a certificate in them expires, in seconds since the Unix epoch; undefined if there is none. @default none */
  expiresAt?(): number | undefined;
}

/** Delay of the look that follows the one that found a change, in milliseconds: programs write files in pieces. */
const NEXT_LOOK_MS = 300;

/** State of files that may still be written: a change of them counts once two looks in a row have found the same. */
export class FileState {
  readonly #find: () => string;
  /** States when the files were read, and at the last look. */
  #read: string;
  #last: string;

  /** @param find returns a text that changes with the files */
  constructor(find: () => string) {
    this.#find = find;
    this.#read = find();
    this.#last = this.#read;
  }

  /** Notes that the current state is about to be read. */
  note(): void {
    this.#read = this.#find();
  }

  /** Notes that what the last look found is about to be read. What changes from then on is another change. */
  noteFound(): void {
    this.#read = this.#last;
  }

  /** Whether the files are as they were when they were read. */
  isSame(): boolean {
    return this.#find() === this.#read;
  }

  /** Looks whether the files have changed since they were read, or are still changing. */
  look(): 'same' | 'changing' | 'changed' {
    const found = this.#find();
    const isSettled = found === this.#last;
    this.#last = found;
    return found === this.#read ? 'same' : isSettled ? 'changed' : 'changing';
  }
}

/**
 * Reads files, and creates the watch on them.
 *
 * @param findState returns a text that changes with the files. It may throw if they can't be listed
 * @param read reads all of them
 * @param use puts what was read into use. It may throw for the part that is invalid
 * @param name what they contain
 */
export function createWatchedFiles<Content>(
  findState: () => string,
  read: () => Content,
  use: (content: Content) => void,
  name = 'files',
): WatchedFiles {
  const state = new FileState(() => {
    try {
      return findState();
    } catch (error) {
      return String(error);
    }
  });
  let invalidSince = 0;
  use(read());

  return {
    name,
    invalidSince: () => invalidSince,
    look() {
      const found = state.look();
      if (found !== 'changed') {
        return found === 'changing';
      }
      state.noteFound();
      invalidSince ||= Date.now() / 1_000;
      const content = read();
      if (!state.isSame()) {
        return true; // They have changed while they were read.
      }
      use(content);
      invalidSince = 0;
      return false;
    },
  };
}

/**
 * Looks at files at a regular interval, so that keys and manifests can be replaced without a restart. Logs problems; the previous content stays in use.
 *
 * @returns stops doing so when it is disposed
 */
export function watchFiles(files: readonly WatchedFiles[], everySeconds: number, logger: Logger): Disposable {
  function lookAt(file: WatchedFiles): boolean {
    try {
      return file.look();
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      logger.error(
        { files: file.name, problem },
        'a key, secret or manifest is invalid: the previous one stays in use',
      );
      return false;
    }
  }

  return lookRepeatedly(
    () => files.map(lookAt).includes(true),
    () => everySeconds,
  );
}

/**
 * Calls a function soon, because files may have been incomplete at the start, then at an interval, or soon again if it returns true.
 *
 * @returns stops doing so when it is disposed
 */
export function lookRepeatedly(look: () => boolean, everySeconds: () => number): Disposable {
  let timer: NodeJS.Timeout;
  function lookIn(milliseconds: number): void {
    timer = setTimeout(() => lookIn(look() ? NEXT_LOOK_MS : everySeconds() * 1_000), milliseconds).unref();
  }
  lookIn(NEXT_LOOK_MS);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
