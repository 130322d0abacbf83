import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createCondition } from '../lib/condition.ts';

/** Activity on a connection: the client sends a request or reads a response, the gateway processes a request, or there is no request. */
export type ConnectionState = 'sending' | 'reading' | 'processing' | 'idle';

/** Measurements per stall timeout. */
export const SAMPLES_PER_TIMEOUT = 30;

/** Measurements that a client's current speed is computed from. */
const RECENT_SAMPLES = 3;

/** Connections of the sockets. */
const CONNECTIONS = new WeakMap<Socket, Connection>();

/** Unfinished responses of a server. */
export class OpenResponses {
  /** Number of unfinished responses, also to requests that are still being received. */
  count = 0;
  /** Number of requests that were received in full and have no complete response yet. */
  running = 0;
  /** Bytes of request bodies in memory, including bodies that are still being received. */
  receivedBytes = 0;
  /** Connections with unsent bytes when a response ended, which is rare. */
  readonly unread = new Set<Connection>();
  /** Holds while every response is finished or its connection closed. */
  readonly finished = createCondition(() => this.count === 0);

  /** Returns the bytes of responses that are not sent yet. */
  unsentBytes(): number {
    let sum = 0;
    for (const connection of this.unread) {
      const bytes = connection.unsentBytes;
      sum += bytes;
      if (bytes === 0) {
        this.unread.delete(connection);
      }
    }
    return sum;
  }
}

/** Client connection that measures how fast the client sends and reads. */
export class Connection {
  readonly socket: Socket;
  /** Unfinished responses of the server. */
  readonly all: OpenResponses;
  /** Unfinished responses, in the order of their requests. There are several only if the client pipelines. */
  readonly responses: Response[] = [];
  state: ConnectionState = 'sending';
  /** Time at which the current state was first observed. */
  since: number;
  /** Number of requests so far. */
  #requests = 0;
  /** Last request, until it was received in full and its response is finished. */
  #request: Request | undefined;
  /** Bytes transferred when the state began and at each measurement since. */
  #transferred: number[] = [0];
  #measuredAt: number;
  /** Bytes and requests received when the connection last became idle. */
  #idle: { bytes: number; requests: number } | undefined = { bytes: 0, requests: 0 };

  constructor(socket: Socket, all: OpenResponses, now: number) {
    this.socket = socket;
    this.all = all;
    this.since = now;
    this.#measuredAt = now;
    CONNECTIONS.set(socket, this);
  }

  /** Registers a new request by its response. */
  addResponse(response: Response): void {
    this.#requests += 1;
    this.responses.push(response);
    this.#request = response.req;
  }

  /** Removes a response that is finished or whose connection closed. */
  removeResponse(response: Response): void {
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

  /** Stops counting the responses, because the connection is closed. */
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
    if (this.#idle?.requests !== this.#requests) {
      this.#idle = { bytes: socket.bytesRead, requests: this.#requests };
    }
    return this.#requests > 0 && socket.bytesRead === this.#idle.bytes ? 'idle' : 'sending';
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
      this.response?.onRequestData(chunk.length);
    }
    return super.push(chunk, encoding);
  }
}

/** Response that is counted until it is finished or its connection closed. */
class Response extends ServerResponse<Request> {
  /** Whether the request was received in full and the response has not ended. */
  isRunning = false;
  /** Bytes received of the request's body. */
  receivedBytes = 0;
  /** Connection, until the response is no longer counted. */
  #connection: Connection | undefined;

  constructor(request: Request, ...options: readonly unknown[]) {
    super(request, ...(options as [])); // Undocumented arguments of Node.js are passed on unchanged.
    request.response = this;
    this.#connection = CONNECTIONS.get(request.socket);
    if (this.#connection !== undefined) {
      this.#connection.addResponse(this);
      this.#connection.all.count += 1;
    }
  }

  onRequestData(bytes: number): void {
    if (this.#connection !== undefined) {
      this.receivedBytes += bytes;
      this.#connection.all.receivedBytes += bytes;
    }
  }

  onRequestEnd(): void {
    if (!this.writableEnded && this.#connection !== undefined) {
      this.isRunning = true;
      this.#connection.all.running += 1;
    }
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    super.end(chunk as never, encoding as never, callback as never);
    this.#stopRunning();
    if (this.writableLength > 0 && this.#connection !== undefined) {
      this.#connection.all.unread.add(this.#connection);
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
    if (this.#connection !== undefined) {
      const { all } = this.#connection;
      this.#stopRunning();
      all.receivedBytes -= this.receivedBytes;
      this.receivedBytes = 0;
      this.#connection.removeResponse(this);
      this.#connection = undefined;
      all.count -= 1;
      all.finished.check();
    }
  }

  #stopRunning(): void {
    if (this.isRunning && this.#connection !== undefined) {
      this.isRunning = false;
      this.#connection.all.running -= 1;
    }
  }
}

/** Classes to create a server with whose connections are `Connection`s. */
export const MESSAGE_CLASSES = {
  IncomingMessage: Request,
  // Node.js passes instances of this request class to the response class, which its types can't express.
  ServerResponse: Response as unknown as typeof ServerResponse,
};
