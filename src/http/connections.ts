import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Settings } from '../settings/settings.ts';
import { Connection, TICKS } from './connection.ts';
import { createEviction } from './eviction.ts';

/** Settings of client connections. */
export type ConnectionSettings = Pick<Settings, 'maxConnections' | 'clientStallTimeoutMs' | 'clientMinBytesPerSecond'>;

/** Reason why the server closed a connection. */
export type CloseReason = 'too slow' | 'limit' | 'buffered bytes';

/** Open connections of a server. */
export interface Connections {
  readonly size: number;
  /** Connections that were closed so far. */
  readonly closed: Readonly<Record<CloseReason, number>>;
  of(socket: Socket): Connection | undefined;
  all(): Iterable<Connection>;
  /** Closes the slowest connections that hold memory until as many bytes are free. Returns how many are: some must stay open. */
  free(bytes: number): number;
}

/** Watches the connections of a server while it listens, with one timer for all of them. It also calls `onSweep`. */
export function createConnections(
  server: Server,
  {
    maxConnections,
    clientStallTimeoutMs: stallTimeoutMs,
    clientMinBytesPerSecond: minBytesPerSecond,
  }: ConnectionSettings,
  onSweep: () => void,
): Connections {
  const connections = new Map<Socket, Connection>();
  const closed: Record<CloseReason, number> = { 'too slow': 0, limit: 0, 'buffered bytes': 0 };
  const intervalMs = stallTimeoutMs / TICKS;
  const minBytes = Math.max(1, (minBytesPerSecond * stallTimeoutMs) / 1_000);
  const victims = createEviction({ minBytesPerSecond, intervalMs, stallTimeoutMs });

  function close(connection: Connection, reason: CloseReason): void {
    closed[reason] += 1;
    connections.delete(connection.socket);
    connection.cut();
  }

  server.on('connection', (socket) => {
    const now = performance.now();
    const newcomer = new Connection(socket, now);
    if (connections.size >= maxConnections) {
      const victim = victims.next(connections.values(), now) ?? newcomer;
      close(victim, 'limit');
      if (victim === newcomer) {
        return;
      }
    }
    connections.set(socket, newcomer);
    socket.once('close', () => {
      connections.delete(socket);
      newcomer.leave();
    });
  });

  function sweep(): void {
    const now = performance.now();
    for (const connection of connections.values()) {
      connection.measure(now);
      if (connection.isStalled(minBytes)) {
        close(connection, 'too slow');
      }
    }
    onSweep();
  }

  let timer: NodeJS.Timeout | undefined;
  server.once('listening', () => {
    timer = setInterval(sweep, intervalMs).unref();
  });
  server.once('close', () => clearInterval(timer));

  return {
    get size() {
      return connections.size;
    },
    closed,
    of: (socket) => connections.get(socket),
    all: () => connections.values(),
    free(bytes) {
      let freed = 0;
      for (const connection of victims.holding(bytes, connections.values(), performance.now())) {
        freed += connection.heldBytes;
        close(connection, 'buffered bytes');
      }
      return freed;
    },
  };
}
