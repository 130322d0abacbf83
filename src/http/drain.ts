import type { Server } from 'node:http';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../settings/settings.ts';
import type { Connections } from './connections.ts';
import type { Exchanges } from './exchanges.ts';

/** Settings for shutdown. */
export type DrainSettings = Pick<Settings, 'lameDuckMs' | 'drainTimeoutMs'>;

/** Closes a server. Requests can finish within the drain timeout; the rest are aborted. */
export async function drain(
  server: Server,
  connections: Connections,
  exchanges: Exchanges,
  { lameDuckMs, drainTimeoutMs }: DrainSettings,
): Promise<void> {
  for (const { responses } of connections.values()) {
    const last = responses.at(-1); // After a response with `Connection: close`, Node.js drops later pipelined ones.
    if (last?.headersSent === false) {
      last.setHeader('Connection', 'close');
    }
  }
  const drainTimer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
  await sleep(lameDuckMs);
  await acceptBacklog(server);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await exchanges.finished();
  // The remaining connections have no request yet. One may be on its way, or a browser opened the connection in advance.
  await Promise.race([closed, sleep(lameDuckMs)]);
  server.closeAllConnections();
  await closed;
  clearTimeout(drainTimer);
}

/** Upper bound, because reconnecting clients could otherwise prolong shutdown indefinitely. */
const MAX_BACKLOG_MS = 250;

/**
 * Accepts the connections that the operating system has already established, one per turn of the event loop. Closing the server would reset
 * them, and requests on them would be lost.
 */
async function acceptBacklog(server: Server): Promise<void> {
  const until = performance.now() + MAX_BACKLOG_MS;
  let hasAccepted = true;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  while (hasAccepted && performance.now() < until) {
    hasAccepted = false;
    await immediate(); // Immediates run after the poll phase, in which connections are accepted.
    await immediate();
  }
  server.off('connection', onConnection);
}
