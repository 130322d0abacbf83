import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Ending, forkWorker, type WorkerProcess } from './fork-worker.ts';
import { createRestartBackoff } from './restart-backoff.ts';
import type { Assignment } from './worker.ts';

/** Options of a group of workers. */
export interface WorkersOptions extends Assignment {
  /** Number of workers. */
  count: number;
  /** Environment variables that they get besides those of this process. */
  env: NodeJS.Dict<string>;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Processes that serve one port. One that ends is replaced. */
export interface Workers extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** Returns whether the first worker reaches the service: the problem, or undefined if it does. */
  checkUpstream(): Promise<string | undefined>;
  /** Lets all workers answer in-flight requests and end. */
  close(): Promise<void>;
  /** Ends all workers immediately. */
  kill(): void;
}

/** Thrown if a worker does not start. The message is for the person who started the command. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
  /** Exit code for this process. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Starts workers and waits until all of them listen.
 *
 * @throws {WorkersError} if one of them ends first
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const group = new WorkerGroup(options);
  const ended = Promise.all(Array.from({ length: options.count }, (_, i) => group.keepRunning(i + 1)));
  async function close(): Promise<void> {
    group.stop();
    await ended;
  }
  try {
    const url = await group.started;
    return { url, checkUpstream: () => group.checked, close, kill: () => group.kill(), [Symbol.asyncDispose]: close };
  } catch (error) {
    group.abort();
    throw error;
  }
}

class WorkerGroup {
  readonly #options: WorkersOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Set<WorkerProcess>();
  readonly #listening = new Set<WorkerProcess>();
  readonly #backoff = createRestartBackoff();
  readonly #started = Promise.withResolvers<string>();
  readonly #checked = Promise.withResolvers<string | undefined>();
  #isStarted = false;
  #port: number;
  #url: string | undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  /** Resolves with the endpoint when all workers listen; rejects if one of them ends before. */
  get started(): Promise<string> {
    return this.#started.promise;
  }

  /** Resolves with the first worker's result of checking the service. */
  get checked(): Promise<string | undefined> {
    return this.#checked.promise;
  }

  /** Runs a worker, and another one when it ends, until all are to stop. */
  async keepRunning(name: number): Promise<void> {
    const { logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const ending = await this.#run(name);
      if (!this.#isStarted) {
        return this.#started.reject(toError(ending));
      }
      if (signal.aborted) {
        return ending.code === 0 ? undefined : logger.warn({ worker: name, ...ending }, 'a worker ended early');
      }
      const backoffMs = this.#backoff.delayAfter(performance.now() - startedAt);
      logger.warn({ worker: name, ...ending, backoffMs }, 'a worker ended and is replaced');
      await sleep(backoffMs, undefined, { signal }).catch(() => {});
    }
  }

  async #run(name: number): Promise<Ending> {
    const { env, upstream } = this.#options;
    const worker = forkWorker(env, { upstream, port: this.#port }, (report) => {
      if (report.kind === 'checked') {
        this.#checked.resolve(report.problem);
      } else {
        this.#onListening(name, worker, report.url);
      }
    });
    this.#running.add(worker);
    const ending = await worker.ended;
    this.#running.delete(worker);
    this.#listening.delete(worker);
    if (this.#listening.size === 0 && this.#port === 0 && this.#url !== undefined) {
      this.#port = Number(new URL(this.#url).port); // The last worker released the port; 0 would pick another one.
    }
    return ending;
  }

  #onListening(name: number, worker: WorkerProcess, url: string): void {
    this.#url ??= url;
    if (url !== this.#url) {
      worker.kill(); // It was starting with port 0 when the last worker that listened ended.
      return;
    }
    this.#listening.add(worker);
    if (this.#stopping.signal.aborted) {
      worker.stop(); // It was not running yet when the others were told to stop.
    } else if (this.#isStarted) {
      this.#options.logger.info({ worker: name, workerPid: worker.pid }, 'a worker listens in its place');
    } else if (this.#listening.size === this.#options.count) {
      this.#isStarted = true;
      this.#started.resolve(url);
    }
  }

  /** Tells all workers to answer in-flight requests and end. */
  stop(): void {
    this.#stopping.abort();
    for (const worker of this.#running) {
      worker.stop();
    }
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
    this.kill();
  }
}

/** A worker that reported a problem ends as this process should. */
const toError = (ending: Ending): WorkersError =>
  ending.problem === undefined
    ? new WorkersError(explain(ending), 1)
    : new WorkersError(ending.problem, ending.code || 1);

const explain = ({ code, signal }: Ending): string =>
  `A worker ended (${signal ?? `exit code ${code}`}) before it listened.`;
