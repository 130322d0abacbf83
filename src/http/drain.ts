import type { Server } from 'node:http';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../settings/settings.ts';
import type { Connections } from './connections.ts';
import type { Exchanges } from './exchanges.ts';

/** Settings of a shutdown. */
export type DrainSettings = Pick<Settings, 'lameDuckMs' | 'drainTimeoutMs'>;

/** Closes a server: lets requests finish within the drain timeout, then cuts off the rest. */
export async function drain(
  server: Server,
  connections: Connections,
  exchanges: Exchanges,
  { lameDuckMs, drainTimeoutMs }: DrainSettings,
): Promise<void> {
  for (const { responses } of connections.all()) {
    const last = responses.at(-1); // Node.js closes the connection after a response that says so, whatever is behind it.
    if (last?.headersSent === false) {
      last.setHeader('Connection', 'close');
    }
  }
  const fuse = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
  await sleep(lameDuckMs);
  await takeWaiting(server);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await exchanges.finished();
  // The other connections have no request yet. One may be on its way, or a browser opened them ahead of time.
  await Promise.race([closed, sleep(lameDuckMs)]);
  server.closeAllConnections();
  await closed;
  clearTimeout(fuse);
}

/** Upper bound, because clients that reconnect at once could otherwise prolong it indefinitely. */
const MAX_TAKING_MS = 250;

/**
 * Accepts the connections that the operating system has already established, one per turn of the event loop. Closing the server would reset
 * them, with requests that may be on them.
 */
async function takeWaiting(server: Server): Promise<void> {
  const until = performance.now() + MAX_TAKING_MS;
  let hasTaken = true;
  const onConnection = () => {
    hasTaken = true;
  };
  server.on('connection', onConnection);
  while (hasTaken && performance.now() < until) {
    hasTaken = false;
    await immediate(); // Turns begin with the timers and end here, after connections were accepted.
    await immediate();
  }
  server.off('connection', onConnection);
}
