// Counts the connections of clients and what they hold in memory, and closes those of clients that don't send or read.

import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { removeItem } from '../../../../src/lib/lists.ts';
import { createCondition } from '../../../../src/lib/promises.ts';

/** Sweeps until a response must have been read. */
const SWEEPS = 60;

/** Open connections of a server, and their unfinished responses. Node.js finds those that send too slowly. */
export class Connections {
  readonly closed = { 'too slow': 0, 'request timeout': 0, limit: 0, 'buffered bytes': 0 };
  requests = 0;
  /** Number of unfinished responses, also to requests that are still being received. */
  responses = 0;
  /** Number of requests that were received in full and have no complete response yet. */
  running = 0;
  /** Bytes of request bodies, also of those still being received, and of responses that clients have not read. */
  bufferedBytes = 0;
  /** Holds while every response is finished or its connection closed. */
  readonly finished = createCondition(() => this.responses === 0);
  /** Open connections, the oldest first. */
  readonly open = new Map<Socket, Connection>();
  /** Those that have had no complete response yet, the oldest first. */
  readonly unserved = new Set<Connection>();
  readonly ended = createCondition(() => this.open.size === 0);

  /** Tracks the connections of a server. While it listens, one timer sweeps all of them, then calls `onSweep`. */
  constructor(
    server: Server,
    { maxConnections, responseTimeoutMs }: { maxConnections: number; responseTimeoutMs: number },
    onSweep: () => void,
  ) {
    server.on('connection', (socket) => this.#add(socket, maxConnections));
    server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => this.#reject(code, socket));
    server.once('listening', () => {
      const sweep = () => {
        this.#sweep();
        onSweep();
      };
      const timer = setInterval(sweep, responseTimeoutMs / SWEEPS).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  /**
   * Closes connections until they free this many bytes of memory, those with the oldest requests first. Clients have time for two sweeps to read a response.
   * Returns the bytes freed, which can be fewer.
   */
  free(bytes: number): number {
    const candidates = [...this.open.values()]
      .filter((each) => each.bufferedBytes > 0 && each.waitsForClient && (!each.isUnread || each.unreadSweeps > 1))
      .sort((a, b) => a.oldestRequest - b.oldestRequest);
    let freedBytes = 0;
    for (const connection of candidates) {
      if (freedBytes >= bytes) {
        break;
      }
      freedBytes += connection.bufferedBytes;
      this.#close(connection, 'buffered bytes');
    }
    return freedBytes;
  }

  #add(socket: Socket, maxConnections: number): void {
    const added = new Connection(socket, this);
    if (this.open.size >= maxConnections) {
      const victim = this.#findVictim() ?? added;
      this.#close(victim, 'limit');
      if (victim === added) {
        return;
      }
    }
    this.open.set(socket, added);
    this.unserved.add(added);
    socket.once('close', () => {
      this.#remove(added);
      added.releaseResponses();
    });
  }

  /** Returns the connection to close for a new one: the oldest without a response, or else the oldest idle one. */
  #findVictim(): Connection | undefined {
    const waits = ({ waitsForClient }: Connection) => waitsForClient;
    return this.unserved.values().find(waits) ?? this.open.values().find(waits);
  }

  #remove(connection: Connection): void {
    this.open.delete(connection.socket);
    this.unserved.delete(connection);
    this.ended.check();
  }

  #close(connection: Connection, reason: keyof Connections['closed']): void {
    this.closed[reason] += 1;
    this.#remove(connection);
    connection.destroy();
  }

  /** Ends a connection whose request is malformed or incomplete, as Node.js would without the event `clientError`. */
  #reject(code = '', socket: Duplex): void {
    this.closed['request timeout'] += Number(code === 'ERR_HTTP_REQUEST_TIMEOUT');
    if (socket.writable && CONNECTIONS.get(socket)?.responses[0]?.headersSent !== true) {
      socket.write(`HTTP/1.1 ${STATUSES[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    }
    socket.end(() => socket.destroy());
  }

  #sweep(): void {
    for (const connection of this.open.values()) {
      connection.unreadSweeps = connection.isUnread ? connection.unreadSweeps + 1 : 0;
      if (connection.unreadSweeps > SWEEPS) {
        this.#close(connection, 'too slow');
      }
    }
  }
}

const CONNECTIONS = new WeakMap<Duplex, Connection>();

/** Statuses of requests that Node.js can't read, by the code of its error. */
const STATUSES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

class Connection {
  readonly socket: Socket;
  readonly server: Connections;
  /** Unfinished responses, in the order of their requests. There are several only if the client pipelines. */
  readonly responses: Response[] = [];
  /** Whether the body of a request is being received, which may have been answered already. */
  receivesBody = false;
  /** Number of sweeps in a row that found unread bytes. */
  unreadSweeps = 0;

  constructor(socket: Socket, server: Connections) {
    this.socket = socket;
    this.server = server;
    CONNECTIONS.set(socket, this);
  }

  /** Bytes of requests and responses that the connection holds in memory. */
  get bufferedBytes(): number {
    return this.responses.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0);
  }

  /** Number of the oldest request without a complete response, counted over all connections. */
  get oldestRequest(): number {
    return this.responses[0]?.number ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the client has not read all of what was sent. Bytes that the operating system took count as read. */
  get isUnread(): boolean {
    return this.socket.writableLength > 0;
  }

  /** Whether the gateway waits for the client to send or to read, not the other way round. */
  get waitsForClient(): boolean {
    const [first] = this.responses;
    return first?.req.complete !== true || this.isUnread;
  }

  /** Makes the latest response the last one. Not earlier ones, because after one with `Connection: close`, Node.js drops those of pipelined requests. */
  announceClose(): void {
    const [previous, last] = [this.responses.at(-2), this.responses.at(-1)];
    if (previous?.headersSent === false) {
      previous.removeHeader('Connection');
    }
    if (last?.headersSent === false) {
      last.setHeader('Connection', 'close');
    }
  }

  destroy(): void {
    if (this.isUnread) {
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
  readonly number: number;
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
    connection.receivesBody = true;
    connection.server.requests += 1;
    connection.server.responses += 1;
    this.number = connection.server.requests;
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
    this.#connection.receivesBody = false;
    this.#connection.server.running += Number(this.#isRunning);
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
      server.unserved.delete(this.#connection);
      server.running -= Number(this.#isRunning);
      this.addBytes(-this.bufferedBytes);
      this.#isReleased = true;
      removeItem(responses, this);
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
