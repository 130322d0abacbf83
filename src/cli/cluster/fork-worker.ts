import cluster, { type Worker } from 'node:cluster';
import { type Assignment, type Report, reports, STOP, variablesFor } from './worker.ts';

/** End of a worker, as fields of the log. */
export interface Ending {
  workerPid?: number | undefined;
  code?: number | null;
  signal?: string | null;
  /** Problem that the worker reported before it ended, or that kept it from starting. */
  problem?: string | undefined;
}

/** Worker as its primary sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<Ending>;
  /** Tells it to answer in-flight requests and end. */
  stop(): void;
  /** Ends it immediately. */
  kill(): void;
}

/**
 * Forks a worker.
 *
 * @param env environment variables besides those of this process
 * @param onReport called for what the worker reports while it runs
 */
export function forkWorker(
  env: NodeJS.Dict<string>,
  assignment: Assignment,
  onReport: (report: Exclude<Report, { kind: 'refused' }>) => void,
): WorkerProcess {
  let worker: Worker;
  try {
    worker = cluster.fork({ ...env, ...variablesFor(assignment) });
  } catch (error) {
    const ended = Promise.resolve(notForked(error)); // There may be more memory in a moment.
    return { pid: undefined, ended, stop() {}, kill() {} };
  }
  const { pid } = worker.process;
  let problem: string | undefined;
  worker.on('message', (message: unknown) => {
    const { data: report } = reports.safeParse(message); // There are others, such as those of `node --watch`.
    if (report?.kind === 'refused') {
      problem = report.problem;
    } else if (report !== undefined) {
      onReport(report);
    }
  });
  const ended = new Promise<Ending>((resolve) => {
    worker.on('exit', (code, signal) => resolve({ workerPid: pid, code, signal, problem }));
    // A worker that can't receive a message is about to exit; one without a pid never started.
    worker.on('error', (error) => pid === undefined && resolve(notForked(error)));
  });
  return {
    pid,
    ended,
    stop: () => void worker.send(STOP, () => {}), // A worker that has ended doesn't need the message.
    kill: () => void worker.kill('SIGKILL'),
  };
}

const notForked = (error: unknown): Ending => ({ problem: `A worker could not be started (${error}).` });
