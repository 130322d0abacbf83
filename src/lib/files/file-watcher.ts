import type { Logger } from 'pino';

/** Content that is read from files. */
export interface WatchedFiles {
  /** Looks at the files, and reads those that changed and are no longer being written. If they are invalid, throws and keeps the previous content. */
  reload(): void;
  /** Whether a file has just changed, so that another look should follow soon. @default () => false */
  isSettling?(): boolean;
}

/** Delay of the look that follows the one that found a change, in milliseconds: longer than a file needs to settle. */
export const NEXT_LOOK_MS = 300;

/**
 * Reloads files at a regular interval, so that keys and manifests can be replaced without a restart. Logs each problem once; the previous
 * content stays in use.
 *
 * @returns stops reloading when it is disposed
 */
export function watchFiles(files: readonly WatchedFiles[], everySeconds: number, logger: Logger): Disposable {
  const problems = new Map<WatchedFiles, string>();

  function reload(file: WatchedFiles): void {
    try {
      file.reload();
      problems.delete(file);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problems.get(file) !== problem) {
        problems.set(file, problem);
        logger.error({ problem }, 'a key, secret or manifest is invalid: the previous one stays in use');
      }
    }
  }

  let nextLook: NodeJS.Timeout | undefined;
  function lookAgain(): void {
    clearTimeout(nextLook);
    if (files.some((file) => file.isSettling?.())) {
      nextLook = setTimeout(reloadAll, NEXT_LOOK_MS).unref();
    }
  }
  function reloadAll(): void {
    files.forEach(reload);
    lookAgain();
  }

  const timer = files.length === 0 ? undefined : setInterval(reloadAll, everySeconds * 1000).unref();
  lookAgain();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      clearTimeout(nextLook);
    },
  };
}
