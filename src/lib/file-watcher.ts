import type { Logger } from 'pino';

/** What is kept in files. */
export interface WatchedFiles {
  /** Looks at the files again. @throws and keeps what was there */
  reload(): void;
}

/**
 * Looks at files again from time to time, so that keys and manifests can be replaced while the process runs. What cannot be read is written
 * to the log, once for each reason, and what was there before stays in use.
 *
 * @returns ends it
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
        logger.error({ problem }, 'a key, secret or manifest cannot be used: the one before stays in use');
      }
    }
  }

  const timer = files.length === 0 ? undefined : setInterval(() => files.forEach(reload), everySeconds * 1000).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
