// Closes a server without losing requests.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/**
 * Time in which clients can send another request on an idle connection, whose response announces its end, in milliseconds. A request that is sent while
 * its connection is being closed is lost: the longer the connection was idle, the less probable that is.
 */
const lastRequestMs = (drainTimeoutMs: number): number => Math.min(5_000, drainTimeoutMs / 4);

/**
 * Closes a server that accepts no more connections. Requests on open ones are answered, the last one of each with `Connection: close`, and idle ones
 * are closed late, except those on which a part of a request has arrived. What isn't finished within the drain timeout is aborted.
 *
 * @param onCutOff called with the number of requests that are aborted, if there are some
 */
export async function drain(
  server: Server,
  connections: Connections,
  drainTimeoutMs: number,
  onCutOff: (requests: number) => void,
): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server); // Unlike `server.close`, it keeps idle connections: a request may be on its way.
  announceClose(connections);
  const drainTimer = setTimeout(() => {
    if (connections.responses > 0) {
      onCutOff(connections.responses);
    }
    server.closeAllConnections();
  }, drainTimeoutMs);
  await Promise.race([connections.ended.met(), sleep(lastRequestMs(drainTimeoutMs))]);
  await answerArrived(connections);
  closeIdle(server, connections);
  await closed;
  clearTimeout(drainTimer);
}

/** Waits until all requests that have reached the operating system are answered. The event loop may not have read them before a wait ends. */
async function answerArrived(connections: Connections): Promise<void> {
  do {
    await connections.finished.met();
    await turnEventLoop();
  } while (connections.responses > 0);
}

/** Closes connections that have no unanswered part of a request. To Node.js, one is idle only between two requests. */
function closeIdle(server: Server, connections: Connections): void {
  server.closeIdleConnections();
  for (const { socket, receivesBody } of connections.open.values()) {
    if (socket.bytesRead === 0 || receivesBody) {
      socket.destroy();
    }
  }
}

/** Makes the responses to in-flight requests the last ones of their connections. */
export function announceClose(connections: Connections): void {
  for (const connection of connections.open.values()) {
    connection.announceClose();
  }
}

/** Maximum connections that wait in the operating system (the default of `listen`). Clients that reconnect could otherwise prolong a shutdown without end. */
const MAX_BACKLOG = 511;

/** Waits until what has already arrived is read, and a connection that is already established is accepted. Immediates run after the poll phase. */
export async function turnEventLoop(): Promise<void> {
  await immediate();
  await immediate();
}

/**
 * Accepts the connections that have already been established. Closing the server would reset them, and requests on them would be lost.
 *
 * @param connectionsArrived waits until the next one, if there is one, has reached this process
 */
export async function acceptBacklog(server: Server, connectionsArrived: () => Promise<void>): Promise<void> {
  let [accepted, before] = [0, -1];
  const onConnection = () => {
    accepted += 1;
  };
  server.on('connection', onConnection);
  while (accepted > before && accepted <= MAX_BACKLOG) {
    before = accepted;
    await connectionsArrived();
  }
  server.off('connection', onConnection);
}
