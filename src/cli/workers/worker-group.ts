import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../../settings/settings.ts';
import type { MetricSamples } from '../../telemetry/metrics-snapshot.ts';
import type { ProcessUsage } from '../../telemetry/process-metrics.ts';
import { WorkerProcess } from './fork-worker.ts';
import type { FrontDoor } from './front-door.ts';
import { createGroupMetrics } from './group-metrics.ts';
import { watchLiveness } from './liveness.ts';
import type { Configuration, GroupStatus, Report } from './messages.ts';
import { createRestartBackoff } from './restart-backoff.ts';
import { createRollingReload } from './rolling-reload.ts';
import type { Ending, WorkerProgram } from './worker-child.ts';
import { toError } from './workers-error.ts';

/** Options of a group of workers. */
export interface WorkersOptions
  extends Pick<Settings, 'host' | 'port' | 'lameDuckMs' | 'drainTimeoutMs' | 'workerTimeoutMs'> {
  /** Number of workers. */
  count: number;
  /** Configuration that workers start with, until another one is applied. */
  configuration: Configuration;
  program: WorkerProgram;
  /** Sources of the metrics of this process. */
  usage: ProcessUsage;
  /** Returns other metrics of this process. */
  metrics(): MetricSamples[];
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Workers behind one front door. */
export class WorkerGroup {
  readonly #options: WorkersOptions;
  readonly #door: FrontDoor;
  readonly #stopping = new AbortController();
  readonly #running = new Set<WorkerProcess>();
  readonly #backoff = createRestartBackoff();
  readonly #started = Promise.withResolvers<string>();
  readonly #checked = Promise.withResolvers<string | undefined>();
  readonly #liveness: ReturnType<typeof watchLiveness>;
  readonly #metrics: ReturnType<typeof createGroupMetrics>;
  readonly #reload: ReturnType<typeof createRollingReload>;
  #slots: Promise<unknown> = Promise.resolve();
  #isStarted = false;
  #lastId = 0;

  constructor(options: WorkersOptions, door: FrontDoor) {
    this.#options = options;
    this.#door = door;
    this.#reload = createRollingReload({ ...options, running: this.#running, stopping: this.#stopping.signal });
    this.#liveness = watchLiveness({ ...options, running: this.#running });
    this.#metrics = createGroupMetrics({
      running: this.#running,
      status: () => this.status(),
      listening: this.#listening,
      usage: options.usage,
      others: options.metrics,
    });
  }

  /** Starts all workers. Resolves with the endpoint when all of them serve; rejects if one of them ends before. */
  start(): Promise<string> {
    const slots = Array.from({ length: this.#options.count }, (_, i) => this.#keepRunning(i + 1));
    this.#slots = Promise.all(slots);
    return this.#started.promise;
  }

  /** Resolves with the first worker's result of checking the service. */
  get checked(): Promise<string | undefined> {
    return this.#checked.promise;
  }

  /** Runs a worker, and another one when it ends or retires, until all are to stop. */
  async #keepRunning(slot: number): Promise<void> {
    const { logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const ending = await this.#run(slot);
      if (ending === undefined) {
        continue;
      }
      if (!this.#isStarted) {
        return this.#started.reject(toError(ending));
      }
      if (signal.aborted) {
        return;
      }
      const backoffMs = this.#backoff.delayAfter(performance.now() - startedAt);
      logger.warn({ worker: slot, ...ending, backoffMs }, 'a worker ended and is replaced');
      this.#metrics.addReplaced();
      await sleep(backoffMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Runs a worker until it ends or retires. Returns undefined if it retires. */
  async #run(slot: number): Promise<Ending | undefined> {
    const retired = Promise.withResolvers<undefined>();
    this.#lastId += 1;
    let worker: WorkerProcess;
    try {
      worker = new WorkerProcess(
        this.#options.program,
        { id: this.#lastId, slot, address: this.#door.url },
        {
          onReport: (from, report) => this.#onReport(from, report, () => retired.resolve(undefined)),
          onFree: (connection) =>
            connection === undefined ? this.#door.queue.pass() : this.#door.queue.addFirst(connection),
          answers: {
            metrics: () => this.metrics(),
            status: () => this.status(),
            configuration: () => this.#reload.assign(worker),
          },
        },
      );
    } catch (error) {
      return { problem: `A worker could not be started (${error}).` }; // There may be more memory in a moment.
    }
    this.#running.add(worker);
    const ended = worker.ended.then((ending) => this.#onEnd(worker, ending));
    return Promise.race([ended, retired.promise]);
  }

  #onEnd(worker: WorkerProcess, ending: Ending): Ending {
    this.#running.delete(worker);
    this.#door.queue.removeWorker(worker);
    this.#metrics.addEnded(worker);
    const { logger } = this.#options;
    if (this.#stopping.signal.aborted && this.#isStarted && ending.code !== 0) {
      logger.warn({ worker: worker.slot, ...ending }, 'a worker ended early');
    } else if (worker.isRetiring && ending.code !== 0) {
      logger.warn({ worker: worker.slot, ...ending }, 'a retired worker ended early');
    }
    return ending;
  }

  #onReport(worker: WorkerProcess, report: Report, onRetired: () => void): void {
    if (report.kind === 'checked') {
      this.#checked.resolve(report.problem);
    } else if (report.kind === 'terminated') {
      this.#retire(worker, onRetired);
    } else if (report.kind === 'listening') {
      void this.#onListening(worker, report.url);
    }
  }

  async #onListening(worker: WorkerProcess, url: string): Promise<void> {
    const isUpToDate = await this.#reload.update(worker);
    if (!this.#running.has(worker)) {
      return;
    }
    if (!isUpToDate) {
      return this.#liveness.kill(worker, 'a worker cannot use the current configuration and is killed');
    }
    this.#door.queue.addWorker(worker);
    if (this.#stopping.signal.aborted) {
      worker.stop(); // It was not running yet when the others were told to stop.
    } else if (this.#isStarted) {
      this.#options.logger.info({ worker: worker.slot, workerPid: worker.pid }, 'a worker listens in its place');
    } else if (this.#listening().length === this.#options.count) {
      this.#isStarted = true;
      this.#started.resolve(url);
    }
  }

  /** Passes a configuration on to all workers. @throws if one of them can't use it; then, all use the previous one */
  configure(next: Configuration): Promise<void> {
    return this.#reload.apply(next);
  }

  /** Lets a worker end after the requests of its connections, and another one take its place. */
  #retire(worker: WorkerProcess, onRetired: () => void): void {
    if (this.#stopping.signal.aborted || !this.#isStarted || worker.isRetiring) {
      return; // Told to stop already, or about to be.
    }
    this.#options.logger.info({ worker: worker.slot, workerPid: worker.pid }, 'a worker retires and is replaced');
    this.#metrics.addReplaced();
    this.#door.queue.removeWorker(worker);
    worker.retire();
    void this.#liveness.killUnlessEnded([worker], 2 * this.#options.drainTimeoutMs);
    onRetired();
  }

  #listening = () => [...this.#running].filter(({ isListening, isRetiring }) => isListening && !isRetiring);

  /** Returns the health of the group: it is ready if one of its workers is. */
  status(): GroupStatus {
    const ready = this.#listening().filter(({ problem }) => problem === undefined).length;
    const problem = this.#stopping.signal.aborted ? 'stopping' : this.#isStarted ? 'overloaded' : 'starting';
    const isReady = ready > 0 && this.#isStarted && !this.#stopping.signal.aborted;
    const degradations = Object.assign({}, ...this.#listening().map((worker) => worker.degradations));
    return { workers: this.#options.count, ready, degradations, ...(!isReady && { problem }) };
  }

  /** Returns the metrics of all processes. */
  metrics(): Promise<string> {
    return this.#metrics.format();
  }

  /** Tells all workers to answer in-flight requests and end. Returns whether one of them had to be killed. */
  async close(): Promise<boolean> {
    const { lameDuckMs, drainTimeoutMs } = this.#options;
    const killedBefore = this.#liveness.killed();
    this.#stopping.abort();
    const workers = [...this.#running];
    for (const worker of workers) {
      worker.stop();
    }
    const ended = this.#liveness.killUnlessEnded(workers, drainTimeoutMs);
    await this.#door.close(lameDuckMs);
    for (const worker of this.#running) {
      worker.endConnections();
    }
    await Promise.all([ended, this.#slots]);
    await Promise.all([...this.#running].map((worker) => worker.ended));
    this.#liveness[Symbol.dispose]();
    this.#door.queue.close();
    return this.#liveness.killed() > killedBefore;
  }

  /** Ends all workers immediately. */
  kill(): void {
    for (const worker of this.#running) {
      worker.kill();
    }
  }

  /** Ends all workers immediately and replaces none. */
  abort(): void {
    this.#stopping.abort();
    this.#liveness[Symbol.dispose]();
    this.kill();
    void this.#door.close(0);
    this.#door.queue.close();
  }
}
