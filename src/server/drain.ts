import type { Server } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../settings/settings.ts';
import type { Connections } from './connections.ts';

/**
 * Closes a server. Requests can finish within the drain timeout; the rest are aborted.
 *
 * @param stopAccepting waits until no more connections come
 * @param onCutOff called with the number of requests that are aborted, if there are some
 */
export async function drain(
  server: Server,
  connections: Connections,
  { lameDuckMs, drainTimeoutMs }: Pick<Settings, 'lameDuckMs' | 'drainTimeoutMs'>,
  stopAccepting: () => Promise<unknown>,
  onCutOff: (requests: number) => void,
): Promise<void> {
  announceClose(connections);
  const drainTimer = setTimeout(() => {
    if (connections.responses > 0) {
      onCutOff(connections.responses);
    }
    server.closeAllConnections();
  }, drainTimeoutMs);
  await stopAccepting();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await connections.finished.met();
  // The remaining connections have no request yet. One may be on its way, or a browser opened the connection in advance.
  await Promise.race([Promise.all([closed, connections.ended.met()]), sleep(lameDuckMs)]);
  server.closeAllConnections();
  await closed;
  clearTimeout(drainTimer);
}

/** Makes the responses to in-flight requests the last ones of their connections. */
export function announceClose(connections: Connections): void {
  for (const { responses } of connections.open.values()) {
    const last = responses.at(-1); // After a response with `Connection: close`, Node.js drops later pipelined ones.
    if (last?.headersSent === false) {
      last.setHeader('Connection', 'close');
    }
  }
}

/** Upper bound, because reconnecting clients could otherwise prolong shutdown indefinitely. */
const MAX_BACKLOG_MS = 250;

/**
 * Accepts the connections that the operating system has already established, one per turn of the event loop. Closing the server would reset
 * them, and requests on them would be lost.
 */
export async function acceptBacklog(server: NetServer): Promise<void> {
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
