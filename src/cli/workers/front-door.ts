import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptBacklog } from '../../server/drain.ts';
import { listen } from '../../server/listen.ts';
import { createConnectionQueue } from './connection-queue.ts';
import type { WorkerProcess } from './fork-worker.ts';

/** Port of a group of workers. */
export interface FrontDoor {
  /** Address without a trailing slash. */
  readonly url: string;
  readonly queue: ReturnType<typeof createConnectionQueue<WorkerProcess>>;
  /** Keeps accepting for the lame-duck time, then stops. Resolves when all connections are passed on. */
  close(lameDuckMs: number): Promise<void>;
}

/**
 * Listens on a port and passes the connections on to workers, unread.
 *
 * @throws {ListenError}
 */
export async function openFrontDoor(host: string, port: number): Promise<FrontDoor> {
  const queue = createConnectionQueue<WorkerProcess>();
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (connection) => {
    connection.on('error', () => {}); // The worker that takes it notices.
    queue.add(connection);
  });
  return {
    url: await listen(server, host, port),
    queue,
    async close(lameDuckMs) {
      await sleep(lameDuckMs);
      await acceptBacklog(server);
      server.close();
      await queue.emptied();
    },
  };
}
