import { NEXT_LOOK_MS } from '../../lib/files/file-watcher.ts';
import { fileFingerprint } from '../../lib/files/text-file.ts';

/** Watch on the files that a configuration can be in. */
export interface ConfigWatch {
  /** Notes that the current state of the files is about to be read. */
  note(): void;
  /** Starts to look for changes. Stops when the result is disposed. */
  start(options: WatchOptions): Disposable;
}

/** Options of `start`. */
export interface WatchOptions {
  /** Returns the interval of looks, in seconds. */
  everySeconds(): number;
  onChange(): void;
}

/**
 * Creates a watch. It looks at the files at an interval, because notifications of the file system miss the mounts of orchestrators.
 *
 * @param paths files, which may be absent
 */
export function watchConfig(paths: readonly string[]): ConfigWatch {
  const look = () => paths.map(fileFingerprint).join('\n');
  let read = look();
  let last = read;
  return {
    note() {
      read = look();
    },
    start({ everySeconds, onChange }) {
      let timer: NodeJS.Timeout;
      function schedule(milliseconds: number): void {
        timer = setTimeout(check, milliseconds).unref();
      }
      function check(): void {
        const found = look();
        const isSettled = found === last;
        last = found;
        if (found === read) {
          schedule(everySeconds() * 1_000);
        } else if (isSettled) {
          schedule(everySeconds() * 1_000);
          onChange();
        } else {
          schedule(NEXT_LOOK_MS); // It may still be written.
        }
      }
      schedule(everySeconds() * 1_000);
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
}
