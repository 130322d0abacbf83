import type { Health } from '../../server/health.ts';
import { openFrontDoor } from './front-door.ts';
import type { Configuration, GroupStatus } from './messages.ts';
import { WorkerGroup, type WorkersOptions } from './worker-group.ts';

/** Processes that serve one port. One that ends is replaced. */
export interface Workers extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** Returns whether the first worker reaches the service: the problem, or undefined if it does. */
  checkUpstream(): Promise<string | undefined>;
  /** Returns the health of the group. */
  health(): Health;
  /** Returns the metrics of all processes, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Lets all workers use another configuration, one after another. @throws if one of them can't; then, all use the previous one */
  configure(configuration: Configuration): Promise<void>;
  /** Lets all workers answer in-flight requests and end. Returns whether one had to be killed because it didn't end. */
  close(): Promise<boolean>;
  /** Ends all workers immediately. */
  kill(): void;
}

/**
 * Starts workers and waits until all of them serve.
 *
 * @throws {ListenError} if this process can't listen
 * @throws {WorkersError} if one of them ends first
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const group = new WorkerGroup(options, await openFrontDoor(options.host, options.port));
  let closed: Promise<boolean> | undefined;
  const close = () => {
    closed ??= group.close();
    return closed;
  };
  try {
    const url = await group.start();
    return {
      url,
      checkUpstream: () => group.checked,
      health: () => toHealth(group.status()),
      metrics: () => group.metrics(),
      configure: (configuration) => group.configure(configuration),
      close,
      kill: () => group.kill(),
      [Symbol.asyncDispose]: async () => void (await close()),
    };
  } catch (error) {
    group.abort();
    throw error;
  }
}

/** Returns the health of a group from its status. */
export const toHealth = ({ problem, workers, ready, degradations }: GroupStatus): Health => ({
  problem,
  details: { workers, ready, ...degradations },
});
