import cluster from 'node:cluster';
import { z } from 'zod';

/** Messages from a worker to its primary. */
export const reports = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), url: z.string() }),
  z.object({ kind: z.literal('refused'), problem: z.string() }),
  z.object({ kind: z.literal('checked'), problem: z.string().optional() }),
]);

export type Report = z.infer<typeof reports>;

/** Message from the primary that stops a worker. */
export const STOP = 'stop';

/** Settings that the primary assigns to a worker. */
export interface Assignment {
  /** Base address of the service, or of the sandbox in the primary. */
  upstream: string;
  port: number;
}

/** Variables with the assignment. They are not settings, so nobody else can set them. */
const UPSTREAM = 'NOTIGRAPH_WORKER_UPSTREAM';
const PORT = 'NOTIGRAPH_WORKER_PORT';

/** Returns the environment variables that carry an assignment. */
export const variablesFor = ({ upstream, port }: Assignment): Record<string, string> => ({
  [UPSTREAM]: upstream,
  [PORT]: String(port),
});

/** This process as a worker. */
export interface WorkerRole {
  assignment: Assignment;
  /** Environment without the assignment. */
  env: NodeJS.Dict<string>;
  /** Whether it is the first worker, which does what one process must do for all. */
  isFirst: boolean;
  /** Resolves when it should answer in-flight requests and end: the primary says so or has ended, or `stop` was called. */
  stopped: Promise<undefined>;
  stop(): void;
  /** Sends a report. Resolves when it is sent or can't be sent. */
  report(report: Report): Promise<void>;
  /** Closes the connection to the primary, which keeps the process alive. */
  leave(): void;
}

/** Returns the role of this process if Notigraph forked it; workers of another program's cluster have none. */
export function findWorkerRole({
  [UPSTREAM]: upstream,
  [PORT]: port,
  ...env
}: NodeJS.Dict<string>): WorkerRole | undefined {
  const { worker } = cluster;
  if (worker === undefined || upstream === undefined || port === undefined) {
    return undefined;
  }
  const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
  worker.on('message', (message: unknown) => message === STOP && stop(undefined));
  worker.on('disconnect', () => {
    worker.exitedAfterDisconnect = true; // Otherwise Node ends this process here.
    stop(undefined);
  });
  worker.on('error', () => {}); // A message to a primary that has ended can't be sent. `disconnect` follows.
  return {
    assignment: { upstream, port: Number(port) },
    env,
    isFirst: worker.id === 1,
    stopped,
    stop: () => stop(undefined),
    report: (report) => new Promise((resolve) => worker.send(report, () => resolve())),
    leave: () => void worker.disconnect(),
  };
}
