import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createCondition } from '../lib/condition.ts';
import type { Settings } from '../settings/settings.ts';
import { Connection, OpenResponses, SAMPLES_PER_TIMEOUT } from './connection.ts';

/** Settings for client connections. */
type ConnectionSettings = Pick<Settings, 'maxConnections' | 'clientStallTimeoutMs' | 'clientMinBytesPerSecond'>;

/** Connection that may be closed, with the speed by which it is chosen, in bytes per second. */
interface Candidate {
  connection: Connection;
  speed: number;
}

/** Share of the connections to choose at a time. Sorting all of them for every new connection would take too long. */
const BATCH_SHARE = 0.05;

/** Open connections of a server, and their unfinished responses. Slow clients are disconnected. */
export class Connections {
  /** Number of connections that the server closed, by reason. */
  readonly closed = { 'too slow': 0, limit: 0, 'buffered bytes': 0 };
  readonly responses = new OpenResponses();
  /** Holds while no connection is open. */
  readonly ended = createCondition(() => this.#open.size === 0);
  readonly #open = new Map<Socket, Connection>();
  readonly #stallTimeoutMs: number;
  readonly #intervalMs: number;
  readonly #minBytesPerSecond: number;
  /** Connections to close next for new ones, in reverse order. */
  #batch: Candidate[] = [];
  #nextBatchAt = 0;

  /** Tracks the connections of a server. While it listens, one timer measures all of them, then calls `onMeasured`. */
  constructor(server: Server, settings: ConnectionSettings, onMeasured: () => void) {
    this.#stallTimeoutMs = settings.clientStallTimeoutMs;
    this.#intervalMs = settings.clientStallTimeoutMs / SAMPLES_PER_TIMEOUT;
    this.#minBytesPerSecond = settings.clientMinBytesPerSecond;
    server.on('connection', (socket) => this.#add(socket, settings.maxConnections));
    let timer: NodeJS.Timeout | undefined;
    server.once('listening', () => {
      const measure = () => {
        this.#measure();
        onMeasured();
      };
      timer = setInterval(measure, this.#intervalMs).unref();
    });
    server.once('close', () => clearInterval(timer));
  }

  /** Number of open connections. */
  get size(): number {
    return this.#open.size;
  }

  /** Returns all open connections. */
  values(): Iterable<Connection> {
    return this.#open.values();
  }

  /** Closes the slowest connections until they free this many bytes of memory. Returns the bytes freed, which can be fewer. */
  free(bytes: number): number {
    let freedBytes = 0;
    for (const { connection } of this.#candidatesForMemory().sort(byOrder)) {
      if (freedBytes >= bytes) {
        break;
      }
      freedBytes += connection.bufferedBytes;
      this.#close(connection, 'buffered bytes');
    }
    return freedBytes;
  }

  #add(socket: Socket, maxConnections: number): void {
    const now = performance.now();
    const added = new Connection(socket, this.responses, now);
    if (this.#open.size >= maxConnections) {
      const victim = this.#chooseForNew(now) ?? added;
      this.#close(victim, 'limit');
      if (victim === added) {
        return;
      }
    }
    this.#open.set(socket, added);
    socket.once('close', () => {
      this.#remove(socket);
      added.releaseResponses();
    });
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    this.ended.check();
  }

  #close(connection: Connection, reason: keyof Connections['closed']): void {
    this.closed[reason] += 1;
    this.#remove(connection.socket);
    connection.destroy();
  }

  #measure(): void {
    const now = performance.now();
    const minBytes = Math.max(1, (this.#minBytesPerSecond * this.#stallTimeoutMs) / 1_000);
    for (const connection of this.#open.values()) {
      connection.measure(now);
      if (connection.isStalled(minBytes)) {
        this.#close(connection, 'too slow');
      }
    }
  }

  /** Returns the connection to close for a new one: slow ones first, then idle ones, then those that are sending a request. */
  #chooseForNew(now: number): Connection | undefined {
    for (;;) {
      if (this.#batch.length === 0 && now >= this.#nextBatchAt) {
        const victims = Array.from(this.#open.values()).flatMap((connection): Candidate[] => {
          const speed = this.#speedForNew(connection, now);
          return speed === undefined ? [] : [{ connection, speed }];
        });
        this.#batch = victims
          .sort(byOrder)
          .slice(0, Math.ceil(BATCH_SHARE * this.#open.size))
          .reverse();
        this.#nextBatchAt = this.#batch.length === 0 ? now + this.#intervalMs : now;
      }
      const victim = this.#batch.pop();
      if (victim === undefined || this.#isStillSlow(victim, now)) {
        return victim?.connection;
      }
    }
  }

  /** Whether a connection is still open and no faster than when it was chosen. */
  #isStillSlow({ connection, speed }: Candidate, now: number): boolean {
    const current = this.#speedForNew(connection, now);
    return !connection.socket.destroyed && current !== undefined && current <= speed;
  }

  /**
   * Returns the speed by which a connection is chosen for a new one; undefined if it must stay open, because its request is being processed or the
   * client reads its response. An idle one counts as fast enough, but no faster.
   */
  #speedForNew(connection: Connection, now: number): number | undefined {
    const minSpeed = Math.max(1, this.#minBytesPerSecond);
    const state = connection.updateState(now);
    if (state === 'processing') {
      return undefined;
    }
    if (state === 'idle') {
      return minSpeed;
    }
    const speed = connection.speed(now, this.#intervalMs);
    const mayClose = state === 'sending' || (speed < minSpeed && now - connection.since >= this.#intervalMs);
    return mayClose ? speed : undefined;
  }

  /**
   * Returns the connections that may be closed to free memory: of clients that are sending a request, or would need longer than the stall timeout to
   * read the rest of their response.
   */
  #candidatesForMemory(): Candidate[] {
    const now = performance.now();
    return Array.from(this.#open.values()).flatMap((connection) => {
      const state = connection.updateState(now);
      const { since, unsentBytes } = connection;
      const speed = connection.speed(now, this.#intervalMs);
      const mayClose =
        state === 'sending' ||
        (state === 'reading' && now - since >= this.#intervalMs && unsentBytes * 1_000 > speed * this.#stallTimeoutMs);
      return mayClose && connection.bufferedBytes > 0 ? [{ connection, speed }] : [];
    });
  }
}

/** Sorts the slowest first, then the longest in the current state. */
const byOrder = (a: Candidate, b: Candidate): number => a.speed - b.speed || a.connection.since - b.connection.since;

/** Open files reserved for other purposes: sockets to the upstream and Redis, files, and a connection that is about to be closed. */
const RESERVED_FILES = 256;

/** Share of a small limit for clients, if `RESERVED_FILES` would leave too few. */
const CLIENT_SHARE = 0.5;

/**
 * Returns the maximum number of client connections for this process, because each one is an open file; Infinity if the limit is unknown. At the
 * system's limit, no connection would be accepted, so no slow one could be closed in favor of a new one.
 */
export function maxClientFiles(limits = readLimits()): number {
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return limit === undefined
    ? Number.POSITIVE_INFINITY
    : Math.floor(Math.max(Number(limit) - RESERVED_FILES, Number(limit) * CLIENT_SHARE));
}

/** Reads the limits of this process, which only Linux has as a file. Node.js raises the soft limit to the hard one at startup. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
