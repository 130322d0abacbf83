// The part of a worker's process that talks to the primary.

import cluster from 'node:cluster';
import type { Process } from '../command.ts';
import { ProcessChannel, primaryFunctions, type WorkerState, workerFunctions } from './messages.ts';

/** Variable with the number of a worker, counted over all that were started. It isn't a setting, so nobody else can set it. */
export const WORKER_ID = 'NOTIGRAPH_WORKER_ID';

/** Interval at which a worker reports that its event loop runs, in milliseconds. */
export const HEARTBEAT_MS = 500;

/** Time in which the primary replies while workers start, in milliseconds. It starts several at once. */
export const START_REPLY_MS = 30_000;

export type WorkerRole = NonNullable<ReturnType<typeof findWorkerRole>>;

/** Returns the role of this process if Notigraph forked it. */
export function findWorkerRole(host: Process) {
  const id = host.env[WORKER_ID];
  if (cluster.worker === undefined || id === undefined) {
    return undefined;
  }
  cluster.worker.exitedAfterDisconnect = true; // Otherwise, Node.js would end this process at once when the primary ends.
  const { promise: retired, resolve: retire } = Promise.withResolvers<undefined>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
  let getState = (): WorkerState => ({ connections: 0, problem: 'starting', degradations: {}, samples: [] });
  const handlers = { state: () => getState(), retire: () => retire(undefined), stop: () => stop(undefined) };
  const primary = new ProcessChannel(primaryFunctions, workerFunctions, handlers, host);
  const heartbeat = setInterval(() => primary.tell('alive', getState()), HEARTBEAT_MS).unref();
  host.once('disconnect', () => {
    clearInterval(heartbeat);
    stop(undefined);
  });

  return {
    id: Number(id),
    primary,
    /** Resolves when it should end because another worker took its place. */
    retired,
    /** Resolves when it should answer in-flight requests and end: the primary says so or has ended. */
    stopped,
    watch(getCurrent: () => WorkerState): void {
      getState = getCurrent;
      void primary.tell('alive', getState()); // Before it is reported to listen: until the next heartbeat, it would count as starting.
    },
    /** Reports the final metrics and closes the connection to the primary, which keeps the process alive. */
    async leave(): Promise<void> {
      await primary.tell('alive', getState());
      if (host.connected) {
        host.disconnect();
      }
    },
  };
}
