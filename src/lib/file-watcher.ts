import type { Logger } from 'pino';

/** Content that is read from files. */
export interface WatchedFiles {
  /** Reads the files again if they changed. If they are invalid, throws and keeps the previous content. */
  reload(): void;
}

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

  const timer = files.length === 0 ? undefined : setInterval(() => files.forEach(reload), everySeconds * 1000).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
