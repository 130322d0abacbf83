import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createRestartBackoff } from './restart-backoff.ts';
import { type Assignment, reports, STOP, variablesFor } from './worker.ts';

export interface WorkersOptions extends Assignment {
  count: number;
  /** Environment variables that they get besides those of this process. */
  env: NodeJS.Dict<string>;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Processes that serve on one port. One that ends is replaced. */
export interface Workers extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** Whether the first one reaches the upstream service. @returns what is wrong, or undefined when it answers */
  checkUpstream(): Promise<string | undefined>;
  /** Lets all of them answer what runs, and end. */
  close(): Promise<void>;
  /** Ends all of them at once. */
  kill(): void;
}

/** Why workers do not serve: one sentence for the person who started them. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
  /** What the process should end with. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** How a worker ended, in the words of the log. */
interface Ending {
  workerPid?: number | undefined;
  code?: number | null;
  signal?: string | null;
  problem?: string | undefined;
}

/** Starts workers and waits until all of them listen. Throws `WorkersError` when one does not. */
export async function startWorkers({ count, upstream, port, env, logger }: WorkersOptions): Promise<Workers> {
  const stopping = new AbortController();
  const running = new Set<Worker>();
  const listening = new Set<Worker>();
  const { promise: started, resolve: start, reject: fail } = Promise.withResolvers<string>();
  const { promise: checked, resolve: check } = Promise.withResolvers<string | undefined>();
  const restartBackoff = createRestartBackoff();
  let url: string | undefined;
  let isStarted = false;

  /** Keeps one running until all are to stop. */
  async function keep(name: number): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const ending = await run(name);
      if (!isStarted) {
        return fail(toError(ending));
      }
      if (stopping.signal.aborted) {
        return ending.code === 0 ? undefined : logger.warn({ worker: name, ...ending }, 'a worker ended early');
      }
      const backoffMs = restartBackoff.delayAfter(performance.now() - startedAt);
      logger.warn({ worker: name, ...ending, backoffMs }, 'a worker ended and is replaced');
      await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  /** Runs one to its end. */
  async function run(name: number): Promise<Ending> {
    let worker: Worker;
    try {
      worker = cluster.fork({ ...env, ...variablesFor({ upstream, port }) });
    } catch (error) {
      return notForked(error); // There may be more memory in a moment.
    }
    running.add(worker);
    const ending = await watch(name, worker);
    running.delete(worker);
    listening.delete(worker);
    if (listening.size === 0 && port === 0 && url !== undefined) {
      port = Number(new URL(url).port); // With the last one the port is given back, and 0 would take another.
    }
    return ending;
  }

  /** Does what a worker asks for, to its end. */
  function watch(name: number, worker: Worker): Promise<Ending> {
    const { pid: workerPid } = worker.process;
    let problem: string | undefined;
    worker.on('message', (message: unknown) => {
      const { data: report } = reports.safeParse(message); // There are others, such as those of `node --watch`.
      if (report?.kind === 'refused') {
        problem = report.problem;
      } else if (report?.kind === 'checked') {
        check(report.problem);
      } else if (report?.kind === 'listening') {
        onListening(name, worker, report.url);
      }
    });
    return new Promise((resolve) => {
      worker.on('exit', (code, signal) => resolve({ workerPid, code, signal, problem }));
      // One that cannot be told something is about to exit; one without a pid has never been.
      worker.on('error', (error) => workerPid === undefined && resolve(notForked(error)));
    });
  }

  function onListening(name: number, worker: Worker, endpoint: string): void {
    const { pid: workerPid } = worker.process;
    url ??= endpoint;
    if (endpoint !== url) {
      worker.kill('SIGKILL'); // It was on its way with port 0 when the last one that listened ended.
      return;
    }
    listening.add(worker);
    if (stopping.signal.aborted) {
      tellToStop(worker); // It was too young to hear it.
    } else if (isStarted) {
      logger.info({ worker: name, workerPid }, 'a worker listens in its place');
    } else if (listening.size === count) {
      isStarted = true;
      start(url);
    }
  }

  function kill(): void {
    for (const worker of running) {
      worker.kill('SIGKILL');
    }
  }

  async function close(): Promise<void> {
    stopping.abort();
    for (const worker of running) {
      tellToStop(worker);
    }
    await kept;
  }

  const kept = Promise.all(Array.from({ length: count }, (_, i) => keep(i + 1)));
  try {
    const endpoint = await started;
    return { url: endpoint, checkUpstream: () => checked, close, kill, [Symbol.asyncDispose]: close };
  } catch (error) {
    stopping.abort();
    kill();
    throw error;
  }
}

const tellToStop = (worker: Worker) => worker.send(STOP, () => {}); // One that is gone need not hear it.

const notForked = (error: unknown): Ending => ({ problem: `A worker could not be started (${error}).` });

/** One that says why it does not serve ends as this process should. */
const toError = (ending: Ending): WorkersError =>
  ending.problem === undefined
    ? new WorkersError(explain(ending), 1)
    : new WorkersError(ending.problem, ending.code || 1);

const explain = ({ code, signal }: Ending): string =>
  `A worker ended (${signal ?? `exit code ${code}`}) before it listened.`;
