import type { Logger } from 'pino';
import type { Settings } from '../../settings/settings.ts';
import type { WorkerProcess } from './fork-worker.ts';
import { HEARTBEAT_MS } from './worker.ts';

/** Options of `watchLiveness`. */
export interface LivenessOptions extends Pick<Settings, 'lameDuckMs' | 'workerTimeoutMs'> {
  running: ReadonlySet<WorkerProcess>;
  logger: Pick<Logger, 'warn'>;
}

/** Time beyond the settings in which a worker that was told to end can do so, in milliseconds. */
const END_MARGIN_MS = 3_000;

/** Kills workers that don't respond from now on, until the result is disposed. */
export function watchLiveness({ running, lameDuckMs, workerTimeoutMs, logger }: LivenessOptions) {
  let killed = 0;
  const ending = new WeakSet<WorkerProcess>();

  function kill(worker: WorkerProcess, message: string): void {
    if (ending.has(worker)) {
      return; // On a busy machine, its end may take longer than an interval.
    }
    ending.add(worker);
    killed += 1;
    logger.warn({ worker: worker.slot, workerPid: worker.pid }, message);
    worker.kill();
  }

  /** Ends workers whose event loop doesn't run. They hold requests that nobody will answer. */
  function killSilent(): void {
    for (const worker of running) {
      if (worker.isSilent(workerTimeoutMs)) {
        kill(worker, 'a worker does not respond and is killed');
      }
    }
  }

  const timer = setInterval(killSilent, HEARTBEAT_MS);
  return {
    /** Returns the number of workers that were killed so far. */
    killed: () => killed,
    kill,
    /** Waits for workers that were told to end, and kills those that don't. */
    async killUnlessEnded(workers: readonly WorkerProcess[], drainMs: number): Promise<void> {
      const timeout = AbortSignal.timeout(2 * lameDuckMs + drainMs + END_MARGIN_MS);
      const late = new Promise((resolve) => timeout.addEventListener('abort', resolve, { once: true }));
      await Promise.race([Promise.all(workers.map(({ ended }) => ended)), late]);
      for (const worker of workers) {
        if (timeout.aborted && running.has(worker)) {
          kill(worker, 'a worker does not end and is killed');
        }
      }
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
