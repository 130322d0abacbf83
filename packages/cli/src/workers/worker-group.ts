// Starts the workers, and replaces those that end, hang or have an earlier configuration.

import cluster from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { counter, gauge, type MetricSamples } from '../../../../src/telemetry/metrics.ts';
import type { Config } from '../config/load-config.ts';
import { CommandError } from '../config/problem.ts';
import type { Settings } from '../config/settings.ts';
import { turnEventLoop } from '../server/drain.ts';
import type { Health } from '../server/health.ts';
import { listen } from '../server/listen.ts';
import { type ProcessUsage, usageSnapshot } from '../server/process-metrics.ts';
import { type Ending, WorkerProcess } from './fork-worker.ts';
import { GroupMetrics } from './group-metrics.ts';
import { HEARTBEAT_MS } from './worker.ts';

interface WorkersOptions extends Pick<Settings, 'host' | 'port' | 'drainDelayMs' | 'drainTimeoutMs'> {
  count: number;
  /** Configuration that workers start with, until another one is applied. */
  configuration: Config;
  usage: ProcessUsage;
  metrics(): MetricSamples[];
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Reports that a worker doesn't start. One that reported a problem ends as this process should. */
class WorkersError extends CommandError {
  override readonly exitCode: number;

  constructor({ problem, code, signal }: Ending) {
    super(problem ?? `A worker ended (${signal ?? `exit code ${code}`}) before it listened.`);
    this.exitCode = (problem !== undefined && code) || 1;
  }
}

/** Time beyond the settings in which a worker that was told to end can do so, in milliseconds. */
const END_MARGIN_MS = 3_000;

/** Lifetime below which a worker most likely ended for the same reason as the one before, in milliseconds. */
const SHORT_LIFE_MS = 10_000;

/** Short-lived workers in a row that are replaced immediately. More of them would use up the machine. */
const MAX_SHORT_LIVES = 5;

/** Delay before the next short-lived worker is replaced, which doubles up to a maximum, in milliseconds. */
const BACKOFF_MS = { first: 100, max: 5_000 };

/** Processes that serve one port. One that ends is replaced. */
export class WorkerGroup implements AsyncDisposable {
  readonly #options: WorkersOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Set<WorkerProcess>();
  #configuration: Config;
  readonly #started = Promise.withResolvers<string>();
  readonly #checked = Promise.withResolvers<string | undefined>();
  /** Resolves with the first worker's result of checking the service. */
  readonly checked = this.#checked.promise;
  readonly #liveness = setInterval(() => this.#killSilent(), HEARTBEAT_MS);
  #replacedCount = 0;
  #shortLives = 0;
  readonly #metrics = new GroupMetrics();
  #isStarted = false;
  /** Emits the slot of a worker when it listens, or with its end if it ended before. */
  readonly #starts = new EventEmitter();
  #lastId = 0;
  /** Listens until the first worker does, so that the port is known and nobody else takes it. */
  readonly #reservation = createServer((connection) => void connection.destroy());
  #port: number;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#configuration = options.configuration;
    this.#port = options.port;
  }

  /**
   * Starts all workers. Resolves with the endpoint when all of them serve.
   *
   * @throws {ListenError} if the port can't be used
   * @throws {WorkersError} if one of the workers ends first
   */
  async start(): Promise<string> {
    // Node.js' default, except on Windows. Workers that accept from one queue would get very different shares of the connections.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    const { count, host, port } = this.#options;
    const url = await listen(this.#reservation, host, port);
    this.#reservation.unref();
    this.#port ||= Number(new URL(url).port);
    for (let slot = 1; slot <= count; slot += 1) {
      this.#launch(slot);
    }
    return this.#started.promise;
  }

  /** Starts a worker in a place, and another one when it ends, unless that has been replaced by then. */
  #launch(slot: number): void {
    const startedAt = performance.now();
    this.#lastId += 1;
    try {
      const worker: WorkerProcess = new WorkerProcess(this.#lastId, slot, {
        port: async () => {
          await new Promise((resolve) => this.#reservation.close(resolve)); // Later calls do nothing.
          return this.#port;
        },
        configuration: () => {
          worker.configuration = this.#configuration;
          return this.#configuration;
        },
        connectionsArrived: turnEventLoop,
        health: () => this.health(),
        metrics: () => this.metrics(),
        listening: (url) => this.#onListening(worker, url),
        checked: this.#checked.resolve,
        terminated: () => this.#onTerminated(worker),
      });
      this.#running.add(worker);
      void worker.ended.then((ending) => {
        this.#onEnd(worker, ending);
        return worker.isReplaced ? undefined : this.#relaunch(slot, startedAt, ending);
      });
    } catch (error) {
      // There may be more memory in a moment.
      void this.#relaunch(slot, startedAt, { problem: `A worker could not be started (${error}).` });
    }
  }

  /** Starts a worker in the place of one that ended, unless all are to stop. */
  async #relaunch(slot: number, startedAt: number, ending: Ending): Promise<void> {
    const { signal } = this.#stopping;
    if (!this.#isStarted) {
      this.#started.reject(new WorkersError(ending));
    } else if (!signal.aborted) {
      this.#shortLives = performance.now() - startedAt < SHORT_LIFE_MS ? this.#shortLives + 1 : 0;
      const excess = this.#shortLives - MAX_SHORT_LIVES;
      const backoffMs = excess > 0 ? Math.min(BACKOFF_MS.first * 2 ** (excess - 1), BACKOFF_MS.max) : 0;
      this.#options.logger.warn({ worker: slot, ...ending, backoffMs }, 'a worker ended and is replaced');
      this.#replacedCount += 1;
      await sleep(backoffMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) {
        this.#launch(slot);
      }
    }
  }

  #onListening(worker: WorkerProcess, url: string): void {
    worker.isListening = true;
    if (this.#stopping.signal.aborted) {
      worker.stop(); // It was not running yet when the others were told to stop.
    } else if (this.#isStarted) {
      this.#options.logger.info({ worker: worker.slot, workerPid: worker.pid }, 'a worker listens in its place');
      this.#retireBefore(worker);
      this.#starts.emit(String(worker.slot));
    } else if (this.#listening().length === this.#options.count) {
      this.#isStarted = true;
      this.#started.resolve(url);
    }
  }

  /** Replaces a worker that got SIGTERM. Until its replacement listens, it serves as before. */
  #onTerminated(worker: WorkerProcess): void {
    if (!this.#stopping.signal.aborted && this.#isStarted && !worker.isReplaced) {
      this.#replacedCount += 1;
      this.#replace(worker);
    } // Otherwise, it was told to stop already, or is about to be.
  }

  #replace(worker: WorkerProcess): void {
    if (!worker.isReplaced) {
      this.#options.logger.info({ worker: worker.slot, workerPid: worker.pid }, 'a worker retires and is replaced');
      worker.isReplaced = true;
      this.#launch(worker.slot);
    }
  }

  /** Lets the workers end that this one replaces. It may be to be replaced itself meanwhile; then it serves until the next one listens. */
  #retireBefore(replacement: WorkerProcess): void {
    for (const worker of this.#running) {
      if (worker !== replacement && worker.slot === replacement.slot && worker.isReplaced && !worker.isRetiring) {
        worker.retire();
        void this.#killUnlessEnded([worker], this.#options.drainTimeoutMs);
      }
    }
  }

  #onEnd(worker: WorkerProcess, ending: Ending): void {
    this.#running.delete(worker);
    if (!worker.isListening) {
      this.#starts.emit(String(worker.slot), ending);
    }
    this.#metrics.add(worker);
    const isStopping = this.#stopping.signal.aborted && this.#isStarted;
    if ((isStopping || worker.isReplaced) && ending.code !== 0) {
      const message = isStopping ? 'a worker ended early' : 'a retired worker ended early';
      this.#options.logger.warn({ worker: worker.slot, ...ending }, message);
    }
  }

  #kill(worker: WorkerProcess, message: string): void {
    if (!worker.isKilled) {
      this.#options.logger.warn({ worker: worker.slot, workerPid: worker.pid }, message);
      worker.kill();
    }
  }

  /** Ends workers whose event loop doesn't run. They hold requests that nobody will answer. */
  #killSilent(): void {
    for (const worker of this.#running) {
      if (worker.isSilent()) {
        this.#kill(worker, 'a worker does not respond and is killed');
      }
    }
  }

  /** Waits for workers that were told to end, and kills those that don't. */
  async #killUnlessEnded(workers: readonly WorkerProcess[], drainMs: number): Promise<void> {
    const late = sleep(drainMs + END_MARGIN_MS, undefined, { ref: false });
    await Promise.race([Promise.all(workers.map(({ ended }) => ended)), late]);
    for (const worker of workers) {
      if (this.#running.has(worker)) {
        this.#kill(worker, 'a worker does not end and is killed');
      }
    }
  }

  /**
   * Replaces all workers by workers that use another configuration, one after another, so that there is only one more at a time.
   *
   * @throws {WorkersError} if one of them doesn't start; then, all use the previous one
   */
  async configure(next: Config): Promise<void> {
    const previous = this.#configuration;
    this.#configuration = next;
    const ending = await this.#replaceOutdated();
    if (ending !== undefined) {
      this.#configuration = previous;
      await this.#replaceOutdated();
      throw new WorkersError(ending);
    }
  }

  /** Replaces the workers that don't use the current configuration. Returns the end of a replacement that didn't start. */
  async #replaceOutdated(): Promise<Ending | undefined> {
    const { signal } = this.#stopping;
    const findOutdated = () =>
      [...this.#running].find((worker) => ![undefined, this.#configuration].includes(worker.configuration));
    for (let worker = findOutdated(); worker !== undefined && !signal.aborted; worker = findOutdated()) {
      if (worker.isListening) {
        this.#replace(worker);
      }
      const ending = worker.isRetiring ? undefined : await this.#nextStart(worker.slot);
      if (ending !== undefined && worker.isListening) {
        return ending;
      }
      if (worker.isRetiring) {
        await worker.ended;
      }
    }
    return undefined;
  }

  /** Resolves when the next worker listens in this place, with its end if it doesn't, or when the group stops. */
  async #nextStart(slot: number): Promise<Ending | undefined> {
    const { signal } = this.#stopping;
    const [ending]: (Ending | undefined)[] = await once(this.#starts, String(slot), { signal }).catch(() => []);
    return ending;
  }

  #listening = () => [...this.#running].filter(({ isListening, isRetiring }) => isListening && !isRetiring);

  #countReady = () => this.#listening().filter(({ state }) => state.problem === undefined).length;

  /** Returns the health of the group: it is ready if one of its workers is. */
  health(): Health {
    const ready = this.#countReady();
    const problem = this.#stopping.signal.aborted ? 'stopping' : this.#isStarted ? 'overloaded' : 'starting';
    const isReady = ready > 0 && this.#isStarted && !this.#stopping.signal.aborted;
    const degradations = Object.assign({}, ...this.#listening().map(({ state }) => state.degradations));
    return { details: { workers: this.#options.count, ready, ...degradations }, ...(!isReady && { problem }) };
  }

  /** Returns the metrics of all processes, including those that have ended, in Prometheus' text format. */
  metrics(): Promise<string> {
    return this.#metrics.format(this.#running, () => this.#samples());
  }

  #samples(): MetricSamples[] {
    const { count, metrics, usage } = this.#options;
    return [
      gauge('notigraph_workers', 'Workers that should run.', count),
      gauge('notigraph_workers_ready', 'Workers that accept requests.', this.#countReady()),
      gauge(
        'notigraph_worker_connections',
        'Open client connections by the number of the worker.',
        this.#listening().map(({ slot, state }) => [{ worker: slot }, state.connections]),
      ),
      counter('notigraph_workers_replaced_total', 'Workers that ended and were replaced.', this.#replacedCount),
      ...metrics(),
      ...usageSnapshot(usage),
    ];
  }

  /** Lets all workers answer in-flight requests and end. Returns whether one had to be killed because it didn't end. */
  async close(): Promise<boolean> {
    this.#stopping.abort();
    const workers = [...this.#running];
    for (const worker of workers) {
      worker.stop();
    }
    const { drainDelayMs, drainTimeoutMs } = this.#options;
    await this.#killUnlessEnded(workers, drainDelayMs + drainTimeoutMs);
    await Promise.all([...this.#running].map((worker) => worker.ended));
    clearInterval(this.#liveness);
    return workers.some(({ isKilled }) => isKilled);
  }

  kill(): void {
    for (const worker of this.#running) {
      worker.kill();
    }
  }

  /** Ends all workers: immediately, if they have not started. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isStarted) {
      await this.close();
    } else {
      this.#stopping.abort();
      clearInterval(this.#liveness);
      this.kill();
    }
  }
}
