import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createCondition } from '../lib/condition.ts';
import type { Settings } from '../settings/settings.ts';
import { Connection, SAMPLES_PER_TIMEOUT } from './connection.ts';
import { createEviction } from './eviction.ts';

/** Settings for client connections. */
export type ConnectionSettings = Pick<Settings, 'maxConnections' | 'clientStallTimeoutMs' | 'clientMinBytesPerSecond'>;

/** Reason for closing a connection. */
export type CloseReason = 'too slow' | 'limit' | 'buffered bytes';

/** Open connections of a server. */
export interface Connections {
  /** Number of open connections. */
  readonly size: number;
  /** Number of connections that the server closed, by reason. */
  readonly closed: Readonly<Record<CloseReason, number>>;
  /** Returns the connection of a socket. */
  get(socket: Socket): Connection | undefined;
  /** Returns all open connections. */
  values(): Iterable<Connection>;
  /** Waits until no connection is open. */
  ended(): Promise<void>;
  /** Closes the slowest connections until they free this many bytes of memory. Returns the bytes freed, which can be fewer. */
  free(bytes: number): number;
}

/** Tracks the connections of a server while it listens. One timer measures all of them, then calls `onMeasured`. */
export function createConnections(
  server: Server,
  {
    maxConnections,
    clientStallTimeoutMs: stallTimeoutMs,
    clientMinBytesPerSecond: minBytesPerSecond,
  }: ConnectionSettings,
  onMeasured: () => void,
): Connections {
  const connections = new Map<Socket, Connection>();
  const closed: Record<CloseReason, number> = { 'too slow': 0, limit: 0, 'buffered bytes': 0 };
  const intervalMs = stallTimeoutMs / SAMPLES_PER_TIMEOUT;
  const minBytes = Math.max(1, (minBytesPerSecond * stallTimeoutMs) / 1_000);
  const eviction = createEviction({ minBytesPerSecond, intervalMs, stallTimeoutMs });

  const empty = createCondition(() => connections.size === 0);

  function remove(socket: Socket): void {
    connections.delete(socket);
    empty.check();
  }

  function close(connection: Connection, reason: CloseReason): void {
    closed[reason] += 1;
    remove(connection.socket);
    connection.destroy();
  }

  server.on('connection', (socket) => {
    const now = performance.now();
    const added = new Connection(socket, now);
    if (connections.size >= maxConnections) {
      const victim = eviction.forNewConnection(connections.values(), now) ?? added;
      close(victim, 'limit');
      if (victim === added) {
        return;
      }
    }
    connections.set(socket, added);
    socket.once('close', () => {
      remove(socket);
      added.releaseResponses();
    });
  });

  function measure(): void {
    const now = performance.now();
    for (const connection of connections.values()) {
      connection.measure(now);
      if (connection.isStalled(minBytes)) {
        close(connection, 'too slow');
      }
    }
    onMeasured();
  }

  let timer: NodeJS.Timeout | undefined;
  server.once('listening', () => {
    timer = setInterval(measure, intervalMs).unref();
  });
  server.once('close', () => clearInterval(timer));

  return {
    get size() {
      return connections.size;
    },
    closed,
    get: (socket) => connections.get(socket),
    values: () => connections.values(),
    ended: empty.met,
    free(bytes) {
      let freed = 0;
      for (const connection of eviction.forMemory(bytes, connections.values(), performance.now())) {
        freed += connection.bufferedBytes;
        close(connection, 'buffered bytes');
      }
      return freed;
    },
  };
}
