import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
