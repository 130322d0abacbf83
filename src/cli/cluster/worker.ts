import cluster from 'node:cluster';
import { z } from 'zod';

/** What a worker tells its primary. */
export const reports = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), url: z.string() }),
  z.object({ kind: z.literal('refused'), problem: z.string() }),
  z.object({ kind: z.literal('checked'), problem: z.string().optional() }),
]);

/** What the primary tells a worker. */
export const STOP = 'stop';

/** What a worker does not decide by itself. */
export interface Assignment {
  /** The service's base address, or the sandbox's, which runs in the primary. */
  upstream: string;
  port: number;
}

/** By these a worker gets its assignment; they are no settings, so nobody else can give one. */
const UPSTREAM = 'NOTIGRAPH_WORKER_UPSTREAM';
const PORT = 'NOTIGRAPH_WORKER_PORT';

/** The variables of a worker that is to have the assignment. */
export const variablesFor = ({ upstream, port }: Assignment): Record<string, string> => ({
  [UPSTREAM]: upstream,
  [PORT]: String(port),
});

/** A worker as it sees itself. */
export interface WorkerRole {
  assignment: Assignment;
  /** The environment, without the assignment. */
  env: NodeJS.Dict<string>;
  /** What one process is to do for all is done by the first. */
  isFirst: boolean;
  /** Settles when it shall answer what runs and end: its primary says so or is gone, or `stop` was called. */
  stopped: Promise<undefined>;
  stop(): void;
  /** Settles when it is sent, or cannot be. */
  report(report: z.infer<typeof reports>): Promise<void>;
  /** Lets the process end, which the connection to its primary keeps alive. */
  leave(): void;
}

/** The role of this process when Notigraph has forked it; the worker of another program's cluster has none. */
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
  worker.on('error', () => {}); // What cannot be sent to a primary that is gone: `disconnect` follows.
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
