import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createCondition } from '../lib/condition.ts';
import type { Settings } from '../settings/settings.ts';

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

/** Activity on a connection: the client sends a request or reads a response, the gateway processes a request, or there is no request. */
export type ConnectionState = 'sending' | 'reading' | 'processing' | 'idle';

/** Unfinished response, with the state of its request. */
export interface OpenResponse extends ServerResponse {
  /** Bytes received of the request's body. */
  readonly receivedBytes: number;
  /** Whether the request was received in full and its response has not ended. */
  readonly isRunning: boolean;
  /** Stops counting the response, because it is finished or its connection is closed. */
  release(): void;
}

/** Measurements per stall timeout. */
export const SAMPLES_PER_TIMEOUT = 30;

/** Measurements that a client's current speed is computed from. */
const RECENT_SAMPLES = 3;

/** Client connection that measures how fast the client sends and reads. */
export class Connection {
  readonly socket: Socket;
  /** Unfinished responses, in the order of their requests. There are several only if the client pipelines. */
  readonly responses: OpenResponse[] = [];
  /** Number of requests so far. */
  requests = 0;
  /** Last request, until it was received in full and its response is finished. */
  #request: OpenResponse['req'] | undefined;
  state: ConnectionState = 'sending';
  /** Time at which the current state was first observed. */
  since: number;
  /** Bytes transferred when the state began and at each measurement since. */
  #transferred: number[] = [0];
  #measuredAt: number;
  /** Bytes and requests received when the connection last became idle. */
  #idle: { bytes: number; requests: number } | undefined = { bytes: 0, requests: 0 };

  constructor(socket: Socket, now: number) {
    this.socket = socket;
    this.since = now;
    this.#measuredAt = now;
  }

  /** Registers a new request by its response. */
  addResponse(response: OpenResponse): void {
    this.requests += 1;
    this.responses.push(response);
    this.#request = response.req;
  }

  /** Removes a response that is finished or whose connection closed. */
  removeResponse(response: OpenResponse): void {
    this.responses.splice(this.responses.indexOf(response), 1);
    if (this.#request === response.req && response.req.complete) {
      this.#request = undefined;
    }
  }

  /** Closes the connection immediately. */
  destroy(): void {
    if (this.socket.writableLength > 0) {
      this.socket.resetAndDestroy(); // Otherwise the operating system would keep buffering for a client that doesn't read.
    } else {
      this.socket.destroy();
    }
    this.releaseResponses();
  }

  /** Releases all responses, because the connection is closed. */
  releaseResponses(): void {
    for (const response of this.responses.slice()) {
      response.release();
    }
  }

  /** Bytes of responses that are not sent yet. */
  get unsentBytes(): number {
    return this.socket.destroyed ? 0 : this.responses.reduce((sum, response) => sum + response.writableLength, 0);
  }

  /** Bytes of requests and responses that the connection holds in memory. */
  get bufferedBytes(): number {
    return this.responses.reduce((sum, { receivedBytes }) => sum + receivedBytes, this.unsentBytes);
  }

  /** Updates the state and returns it. */
  updateState(now: number): ConnectionState {
    const state = this.#findState();
    if (state !== this.state) {
      this.state = state;
      this.since = now;
      this.#transferred = [this.#bytesTransferred()];
      this.#measuredAt = now;
    }
    return state;
  }

  /** Records the bytes transferred so far. Called at regular intervals. */
  measure(now: number): void {
    const state = this.updateState(now);
    if (state === 'sending' || state === 'reading') {
      this.#transferred.push(this.#bytesTransferred());
      this.#measuredAt = now;
      if (this.#transferred.length > SAMPLES_PER_TIMEOUT + 1) {
        this.#transferred.shift();
      }
    }
  }

  /** Returns whether the client transferred fewer than `minBytes` during the last `SAMPLES_PER_TIMEOUT` measurements. */
  isStalled(minBytes: number): boolean {
    const [first = 0] = this.#transferred;
    return this.#transferred.length > SAMPLES_PER_TIMEOUT && (this.#transferred.at(-1) ?? 0) - first < minBytes;
  }

  /** Returns the client's recent speed in bytes per second. An unfinished first interval counts as a full one. */
  speed(now: number, intervalMs: number): number {
    const last = this.#transferred.length - 1;
    const from = Math.max(0, last - RECENT_SAMPLES);
    const elapsedMs = (last - from) * intervalMs + now - this.#measuredAt;
    return ((this.#bytesTransferred() - (this.#transferred[from] ?? 0)) * 1_000) / Math.max(intervalMs, elapsedMs);
  }

  #findState(): ConnectionState {
    const { socket, responses } = this;
    const request = this.#request;
    if (responses.length > 0 || request?.complete === false) {
      this.#idle = undefined;
    }
    if (socket.writableLength > 0) {
      return 'reading';
    }
    if (responses.some(({ isRunning }) => isRunning)) {
      return 'processing';
    }
    if (request?.complete === false) {
      return request.readableLength > 0 ? 'processing' : 'sending'; // Unread data means that the gateway is slow, not the client.
    }
    if (responses.length > 0) {
      return 'processing';
    }
    if (this.#idle?.requests !== this.requests) {
      this.#idle = { bytes: socket.bytesRead, requests: this.requests };
    }
    return this.requests > 0 && socket.bytesRead === this.#idle.bytes ? 'idle' : 'sending';
  }

  #bytesTransferred(): number {
    return this.state === 'reading' ? bytesSent(this.socket) : this.socket.bytesRead;
  }
}

/**
 * Returns the bytes passed to the operating system. A socket's `bytesWritten` already counts a chunk when its write begins, so this reads the
 * counters of the socket's handle, as Node.js does for its own timeouts.
 */
function bytesSent(socket: Socket & { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null }): number {
  const { bytesWritten, writeQueueSize } = socket._handle ?? {};
  return bytesWritten === undefined || writeQueueSize === undefined
    ? socket.bytesWritten - socket.writableLength
    : bytesWritten - writeQueueSize;
}

/** Options of `createEviction`. */
export interface EvictionOptions {
  /** Speed below which a client is slow, in bytes per second. */
  minBytesPerSecond: number;
  /** Interval between measurements, in milliseconds. */
  intervalMs: number;
  /** Maximum time a client may need to read its response when memory is short, in milliseconds. */
  stallTimeoutMs: number;
}

/** Connection that may be closed, with its sort keys. */
interface Candidate {
  connection: Connection;
  rank: number;
  /** Bytes per second. */
  speed: number;
  since: number;
}

/** Order in which connections are closed for new ones. Connections whose request is being processed are never closed. */
const [SLOW, IDLE, SENDING] = [0, 1, 2];

/** Share of the connections to choose at a time. Ranking all of them for every new connection would take too long. */
const BATCH_SHARE = 0.05;

/** Chooses the connections to close when there are too many, or when they hold too much memory. */
export function createEviction({ minBytesPerSecond, intervalMs, stallTimeoutMs }: EvictionOptions) {
  /** Connections to close next for new ones, in reverse order. */
  let batch: Candidate[] = [];
  let nextBatchAt = 0;

  function rankOf({ state, since }: Connection, speed: number, now: number): number | undefined {
    const isSlow = speed < Math.max(1, minBytesPerSecond);
    switch (state) {
      case 'idle':
        return IDLE;
      case 'sending':
        return isSlow ? SLOW : SENDING;
      case 'reading':
        return isSlow && now - since >= intervalMs ? SLOW : undefined;
      case 'processing':
        return undefined;
    }
  }

  /** Returns undefined if the connection must stay open. */
  function toCandidate(connection: Connection, now: number): Candidate | undefined {
    connection.updateState(now);
    const speed = connection.state === 'idle' ? 0 : connection.speed(now, intervalMs);
    const rank = rankOf(connection, speed, now);
    return rank === undefined ? undefined : { connection, rank, speed, since: connection.since };
  }

  /** Returns whether the connection is still open and no faster than when it was chosen. */
  function isUnchanged(victim: Candidate, now: number): boolean {
    const current = toCandidate(victim.connection, now);
    return !victim.connection.socket.destroyed && current?.rank === victim.rank && current.speed <= victim.speed;
  }

  return {
    /** Returns the connection to close for a new one: slow ones first, then idle ones, then those that are sending a request. */
    forNewConnection(connections: Iterable<Connection>, now: number): Connection | undefined {
      for (;;) {
        if (batch.length === 0 && now >= nextBatchAt) {
          const all = Array.from(connections);
          const victims = all.flatMap((connection) => toCandidate(connection, now) ?? []).sort(byOrder);
          batch = victims.slice(0, Math.ceil(BATCH_SHARE * all.length)).reverse();
          nextBatchAt = batch.length === 0 ? now + intervalMs : now;
        }
        const victim = batch.pop();
        if (victim === undefined || isUnchanged(victim, now)) {
          return victim?.connection;
        }
      }
    },

    /**
     * Returns the connections to close to free this many bytes, slowest first. Only clients qualify that are sending a request, or that would
     * need longer than the stall timeout to read the rest of their response.
     */
    forMemory(bytes: number, connections: Iterable<Connection>, now: number): Connection[] {
      const candidates = Array.from(connections).flatMap((connection) => {
        connection.updateState(now);
        const { state, since, unsentBytes } = connection;
        const speed = connection.speed(now, intervalMs);
        const mayClose =
          state === 'sending' ||
          (state === 'reading' && now - since >= intervalMs && unsentBytes * 1_000 > speed * stallTimeoutMs);
        const held = mayClose ? connection.bufferedBytes : 0;
        return held > 0 ? { connection, rank: SLOW, speed, since, held } : [];
      });
      let missingBytes = bytes;
      const result: Connection[] = [];
      for (const { connection, held } of candidates.sort(byOrder)) {
        if (missingBytes <= 0) {
          break;
        }
        missingBytes -= held;
        result.push(connection);
      }
      return result;
    },
  };
}

/** Sorts by rank, then slowest first, then longest in the current state. */
const byOrder = (a: Candidate, b: Candidate): number => a.rank - b.rank || a.speed - b.speed || a.since - b.since;
