import type { Logger } from 'pino';
import { LostWorkerError } from '../config/reload.ts';
import type { WorkerProcess } from './fork-worker.ts';
import type { Configuration } from './messages.ts';

/** Options of `createRollingReload`. */
export interface RollingReloadOptions {
  /** Processes that run, to which others may be added during a reload. */
  running: ReadonlySet<WorkerProcess>;
  /** Configuration that workers start with, until another one is applied. */
  configuration: Configuration;
  /** Time in which a worker must use a configuration, in milliseconds. */
  workerTimeoutMs: number;
  /** Aborts when the workers end anyway. */
  stopping: AbortSignal;
  logger: Pick<Logger, 'warn'>;
}

/** Keeps the configuration of all workers the same, also that of replacements. */
export function createRollingReload({ running, workerTimeoutMs, stopping, logger, ...initial }: RollingReloadOptions) {
  let current = initial.configuration;
  /** Resolves when the next worker listens. */
  let replaced = Promise.withResolvers<void>();

  /** Sets all workers back that use another configuration than the current one, or may do so. They keep serving even if that fails. */
  async function setBack(): Promise<void> {
    const changed = [...running].filter(({ isListening, configuration }) => isListening && configuration !== current);
    for (const worker of changed) {
      const problem = await worker.configure(current, workerTimeoutMs);
      if (problem !== undefined && running.has(worker)) {
        const fields = { worker: worker.slot, workerPid: worker.pid, problem };
        logger.warn(fields, 'a worker was not set back to the previous configuration');
      }
    }
  }

  return {
    /** Returns the configuration that a worker starts with. */
    assign(worker: WorkerProcess): Configuration {
      worker.configuration = current;
      return current;
    },
    /** Passes the configuration on to a worker if it was replaced while the worker started. Returns whether the worker uses it. */
    async update(worker: WorkerProcess): Promise<boolean> {
      const isUpToDate =
        worker.configuration === current || (await worker.configure(current, workerTimeoutMs)) === undefined;
      replaced.resolve();
      replaced = Promise.withResolvers();
      return isUpToDate;
    },
    /**
     * Passes a configuration on to the workers that listen, one after another. If one of them can't use it, those before it are set back.
     *
     * @throws {Error} if it isn't used, with the number of the worker and the problem
     * @throws {LostWorkerError} if that worker has ended, or doesn't respond and will be killed
     */
    async apply(next: Configuration): Promise<void> {
      const tried = new Set<WorkerProcess>();
      const findNext = () => [...running].find((worker) => worker.isListening && !tried.has(worker));
      for (let worker = findNext(); worker !== undefined; worker = findNext()) {
        tried.add(worker);
        const problem = await worker.configure(next, workerTimeoutMs);
        if (problem !== undefined && !worker.isRetiring) {
          const isLost = worker.configuration === undefined || !running.has(worker);
          const { promise } = replaced;
          if (!stopping.aborted) {
            await setBack();
          }
          const message = `worker ${worker.slot}: ${problem}`;
          throw isLost ? new LostWorkerError(message, promise) : new Error(message);
        }
      }
      current = next;
    },
  };
}
