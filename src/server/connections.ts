import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createCondition } from '../lib/condition.ts';
import type { Settings } from '../settings/settings.ts';

/** Settings for client connections. */
type ConnectionSettings = Pick<Settings, 'maxConnections' | 'clientStallTimeoutMs' | 'clientMinBytesPerSecond'>;

/** Sweeps per stall timeout. */
const SWEEPS = 30;

/** Share of the connections to choose at a time. Sorting all of them for every new connection would take too long. */
const BATCH_SHARE = 0.05;

/** Open connections of a server, and their unfinished responses. Slow clients are disconnected. */
export class Connections {
  /** Number of connections that the server closed, by reason. */
  readonly closed = { 'too slow': 0, limit: 0, 'buffered bytes': 0 };
  /** Number of unfinished responses, also to requests that are still being received. */
  responses = 0;
  /** Number of requests that were received in full and have no complete response yet. */
  running = 0;
  /** Bytes of request bodies, also of those still being received, and of responses that clients have not read. */
  bufferedBytes = 0;
  /** Holds while every response is finished or its connection closed. */
  readonly finished = createCondition(() => this.responses === 0);
  /** Open connections. */
  readonly open = new Map<Socket, Connection>();
  /** Holds while no connection is open. */
  readonly ended = createCondition(() => this.open.size === 0);
  /** Minimum speed of a client that sends or reads, in bytes per millisecond. At the setting 0, it is one byte per timeout. */
  readonly minSpeed: number;
  /** Time between two sweeps, in milliseconds. */
  readonly intervalMs: number;
  readonly #timeoutMs: number;
  /** Connections to close next for new ones, in reverse order. */
  #batch: Candidate[] = [];
  #nextBatchAt = 0;

  /** Tracks the connections of a server. While it listens, one timer sweeps all of them, then calls `onSweep`. */
  constructor(server: Server, settings: ConnectionSettings, onSweep: () => void) {
    this.#timeoutMs = settings.clientStallTimeoutMs;
    this.intervalMs = this.#timeoutMs / SWEEPS;
    this.minSpeed = Math.max(settings.clientMinBytesPerSecond / 1_000, 1 / this.#timeoutMs);
    server.on('connection', (socket) => this.#add(socket, settings.maxConnections));
    let timer: NodeJS.Timeout | undefined;
    server.once('listening', () => {
      const sweep = () => {
        this.#sweep();
        onSweep();
      };
      timer = setInterval(sweep, this.intervalMs).unref();
    });
    server.once('close', () => clearInterval(timer));
  }

  /**
   * Closes connections until they free this many bytes of memory, the longest stalled first. Also disconnects clients that would need longer than the
   * stall timeout to read their response. Returns the bytes freed, which can be fewer.
   */
  free(bytes: number): number {
    const isTooSlow = (reader: Connection) => reader.bufferedBytes > reader.readingSpeed * this.#timeoutMs;
    let freedBytes = 0;
    for (const { connection } of this.#candidates(performance.now(), isTooSlow)) {
      if (freedBytes < bytes && connection.bufferedBytes > 0) {
        freedBytes += connection.bufferedBytes;
        this.#close(connection, 'buffered bytes');
      }
    }
    return freedBytes;
  }

  #add(socket: Socket, maxConnections: number): void {
    const now = performance.now();
    const added = new Connection(socket, this, now);
    if (this.open.size >= maxConnections) {
      const victim = this.#chooseForNew(now) ?? added;
      this.#close(victim, 'limit');
      if (victim === added) {
        return;
      }
    }
    this.open.set(socket, added);
    socket.once('close', () => {
      this.#remove(socket);
      added.releaseResponses();
    });
  }

  #remove(socket: Socket): void {
    this.open.delete(socket);
    this.ended.check();
  }

  #close(connection: Connection, reason: keyof Connections['closed']): void {
    this.closed[reason] += 1;
    this.#remove(connection.socket);
    connection.destroy();
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of this.open.values()) {
      if (connection.measure(now) >= this.#timeoutMs) {
        this.#close(connection, 'too slow');
      }
    }
  }

  /** Returns the connection to close for a new one: the longest stalled, then an idle one, then one that sends at the minimum speed. */
  #chooseForNew(now: number): Connection | undefined {
    for (;;) {
      if (this.#batch.length === 0 && now >= this.#nextBatchAt) {
        const candidates = this.#candidates(now);
        this.#batch = candidates.slice(0, Math.ceil(BATCH_SHARE * this.open.size)).reverse();
        this.#nextBatchAt = this.#batch.length === 0 ? now + this.intervalMs : now;
      }
      const victim = this.#batch.pop();
      if (victim === undefined) {
        return undefined;
      }
      const { connection, stalledMs } = victim;
      if (this.open.has(connection.socket) && (connection.stalledMs(now) ?? -1) >= stalledMs) {
        return connection;
      }
    }
  }

  /**
   * Returns the connections that may be closed, the longest stalled first: those that wait for their clients, but not for one that reads, unless the
   * function returns true for it.
   */
  #candidates(now: number, isTooSlow = (_reader: Connection) => false): Candidate[] {
    const candidates: Candidate[] = [];
    for (const connection of this.open.values()) {
      const stalledMs = connection.stalledMs(now) ?? -1;
      if (stalledMs > this.intervalMs || (stalledMs >= 0 && (!connection.isReading || isTooSlow(connection)))) {
        candidates.push({ connection, stalledMs });
      }
    }
    return candidates.sort((a, b) => b.stalledMs - a.stalledMs);
  }
}

/** Connection that may be closed, with the time for which its client had stalled when it was chosen. */
interface Candidate {
  connection: Connection;
  stalledMs: number;
}

/** Connections of the sockets. */
const CONNECTIONS = new WeakMap<Socket, Connection>();

/** Client connection. */
class Connection {
  readonly socket: Socket;
  readonly server: Connections;
  /** Unfinished responses, in the order of their requests. There are several only if the client pipelines. */
  readonly responses: Response[] = [];
  /** Bytes received when the last request ended; -1 before the first one. */
  #bytesWhenIdle = -1;
  /** Values of the last sweep, or of the beginning: time, bytes transferred, and time for which the client had stalled. */
  #at: number;
  #bytes = 0;
  #stalledMs: number;
  /** Values of the first sweep in which the client read its response. */
  #reading: { since: number; bytes: number } | undefined;

  constructor(socket: Socket, server: Connections, now: number) {
    this.socket = socket;
    this.server = server;
    this.#at = now;
    this.#stalledMs = 2 * server.intervalMs; // Longer than an idle one, even if it has sent a part of its headers.
    CONNECTIONS.set(socket, this);
  }

  /** Bytes of requests and responses that the connection holds in memory. */
  get bufferedBytes(): number {
    return this.responses.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0);
  }

  /** Whether the client has not read all of what was sent. */
  get isReading(): boolean {
    return this.socket.writableLength > 0;
  }

  /** Bytes per millisecond that the client has read since the first sweep of its response; infinite before the second one. */
  get readingSpeed(): number {
    const { since, bytes } = this.#reading ?? { since: this.#at, bytes: 0 };
    return this.#at > since ? (this.#bytes - bytes) / (this.#at - since) : Number.POSITIVE_INFINITY;
  }

  /**
   * Returns for how long the client has stalled; undefined while the gateway processes a request. Each byte that the client sends or reads reduces this
   * by the time that the byte takes at the minimum speed. An idle client counts as stalled for one interval: longer than one that makes progress.
   */
  stalledMs(now: number): number | undefined {
    const { socket, server } = this;
    const request = this.responses[0]?.req;
    if (!this.isReading && request === undefined && socket.bytesRead === this.#bytesWhenIdle) {
      return server.intervalMs;
    }
    if (!this.isReading && (request?.complete || request?.readableLength)) {
      return undefined; // Data that is not read yet means that the gateway is slow, not the client.
    }
    const elapsedMs = Math.min(now - this.#at, server.intervalMs); // If a sweep is late, the gateway was slow.
    const savedMs = (this.#bytesTransferred() - this.#bytes) / server.minSpeed;
    return Math.max(0, this.#stalledMs + elapsedMs - savedMs);
  }

  /** Measures the client's progress and returns for how long it has stalled. */
  measure(now: number): number {
    this.#stalledMs = this.stalledMs(now) ?? 0;
    this.#at = now;
    this.#bytes = this.#bytesTransferred();
    this.#reading = this.isReading ? (this.#reading ?? { since: now, bytes: this.#bytes }) : undefined;
    return this.#stalledMs;
  }

  /** Notes that a request has ended. */
  noteEnd(): void {
    if (this.responses.length === 0) {
      this.#bytesWhenIdle = this.socket.bytesRead;
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

  /** Stops counting the responses, because the connection is closed. */
  releaseResponses(): void {
    for (const response of this.responses.slice()) {
      response.release();
    }
  }

  /**
   * Returns the bytes received and passed to the operating system. A socket's `bytesWritten` already counts a chunk when its write begins, so this
   * reads the counters of the socket's handle, as Node.js does for its own timeouts.
   */
  #bytesTransferred(): number {
    const socket: Socket & { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null } = this.socket;
    const { bytesWritten, writeQueueSize } = socket._handle ?? {};
    return bytesWritten === undefined || writeQueueSize === undefined
      ? socket.bytesRead + socket.bytesWritten - socket.writableLength
      : socket.bytesRead + bytesWritten - writeQueueSize;
  }
}

/**
 * Request that counts what it receives. Counts are updated in overridden methods instead of event listeners, because no event reports the end of a
 * body that nobody reads. Also, with a second listener for an event, V8 may allocate a response's listener array in the old generation, which keeps
 * the response alive until the next full garbage collection.
 */
class Request extends IncomingMessage {
  response: Response | undefined;

  /** Receives a chunk of the body, or null at its end. */
  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) {
      this.response?.onRequestEnd();
    } else {
      this.response?.addBytes(chunk.length);
    }
    return super.push(chunk, encoding);
  }
}

/** Response that is counted until it is finished or its connection closed. */
class Response extends ServerResponse<Request> {
  /** Bytes of the request's body, and of the response once it has ended. */
  bufferedBytes = 0;
  readonly #connection: Connection;
  #isReleased = false;

  constructor(request: Request, ...options: readonly unknown[]) {
    super(request, ...(options as [])); // Undocumented arguments of Node.js are passed on unchanged.
    const connection = CONNECTIONS.get(request.socket);
    if (connection === undefined) {
      throw new Error('The server has no Connections.');
    }
    request.response = this;
    this.#connection = connection;
    connection.responses.push(this);
    connection.server.responses += 1;
  }

  /** Whether the request was received in full and the response has not ended. */
  get #isRunning(): boolean {
    return this.req.complete && !this.writableEnded && !this.#isReleased;
  }

  /** Counts bytes that stay in memory until the response is finished. */
  addBytes(bytes: number): void {
    if (!this.#isReleased) {
      this.bufferedBytes += bytes;
      this.#connection.server.bufferedBytes += bytes;
    }
  }

  onRequestEnd(): void {
    this.#connection.server.running += Number(this.#isRunning);
    this.#connection.noteEnd();
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const hadEnded = this.writableEnded;
    const wasRunning = this.#isRunning;
    super.end(chunk as never, encoding as never, callback as never);
    if (!hadEnded) {
      this.#connection.server.running -= Number(wasRunning);
      this.addBytes(this.writableLength); // Only what the operating system didn't take, which is usually nothing.
    }
    return this;
  }

  /** Detaches the connection from the response, because it is finished. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    this.release();
  }

  /** Stops counting the response, because it is finished or its connection is closed. */
  release(): void {
    if (!this.#isReleased) {
      const { server, responses } = this.#connection;
      server.running -= Number(this.#isRunning);
      this.addBytes(-this.bufferedBytes);
      this.#isReleased = true;
      responses.splice(responses.indexOf(this), 1);
      this.#connection.noteEnd();
      server.responses -= 1;
      server.finished.check();
    }
  }
}

/** Classes to create a server with whose connections are tracked. */
export const MESSAGE_CLASSES = {
  IncomingMessage: Request,
  // Node.js passes instances of this request class to the response class, which its types can't express.
  ServerResponse: Response as unknown as typeof ServerResponse,
};
