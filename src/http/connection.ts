import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Party that a connection waits for: the client, which is sending a request or reading a response; the gateway, which is working on one; or
 * nobody, between two requests.
 */
export type Turn = 'sending' | 'reading' | 'gateway' | 'idle';

/** Response that is not finished, with what is known of its request. */
export interface OpenResponse extends ServerResponse {
  /** Bytes of the request's body so far. */
  readonly receivedBytes: number;
  /** Whether the request has arrived completely and its response has not been handed over. */
  readonly isRunning: boolean;
  /** Stops counting it, because its connection is closed. */
  leave(): void;
}

/** Measurements in the time after which a client that moves too little is disconnected. */
export const TICKS = 30;

/** Measurements that a client's present speed is taken from. */
const RECENT_TICKS = 3;

/** One client connection, and how much the client has moved over it since its turn began. */
export class Connection {
  readonly socket: Socket;
  /** Responses that are not finished, in the order of their requests; there are several only if the client pipelines. */
  readonly responses: OpenResponse[] = [];
  /** Number of requests so far. */
  requests = 0;
  /** Last request, until it has arrived completely and is answered. */
  #request: OpenResponse['req'] | undefined;
  turn: Turn = 'sending';
  /** Time at which the turn began, as far as it was noticed. */
  since: number;
  /** Bytes moved when the turn began, and at each measurement since. */
  #moved: number[] = [0];
  #measuredAt: number;
  /** Bytes received when nothing was asked any more, after so many requests. */
  #idle: { bytes: number; requests: number } | undefined = { bytes: 0, requests: 0 };

  constructor(socket: Socket, now: number) {
    this.socket = socket;
    this.since = now;
    this.#measuredAt = now;
  }

  /** Begins a request. */
  open(response: OpenResponse): void {
    this.requests += 1;
    this.responses.push(response);
    this.#request = response.req;
  }

  /** Ends a request: its response is finished, or the connection closed. */
  close(response: OpenResponse): void {
    this.responses.splice(this.responses.indexOf(response), 1);
    if (this.#request === response.req && response.req.complete) {
      this.#request = undefined;
    }
  }

  /** Closes the connection at once. */
  cut(): void {
    if (this.socket.writableLength > 0) {
      this.socket.resetAndDestroy(); // Otherwise the system would keep its part of the response for a client that does not read.
    } else {
      this.socket.destroy();
    }
    this.leave();
  }

  /** Ends all requests, because the connection is closed. */
  leave(): void {
    for (const response of this.responses.slice()) {
      response.leave();
    }
  }

  /** Bytes of responses that the client has not taken. */
  get unsentBytes(): number {
    return this.socket.destroyed ? 0 : this.responses.reduce((sum, response) => sum + response.writableLength, 0);
  }

  /** Bytes of requests and responses that the connection holds in memory. */
  get heldBytes(): number {
    return this.responses.reduce((sum, { receivedBytes }) => sum + receivedBytes, this.unsentBytes);
  }

  /** Finds out whose turn it is now. */
  look(now: number): Turn {
    const turn = this.#findTurn();
    if (turn !== this.turn) {
      this.turn = turn;
      this.since = now;
      this.#moved = [this.#bytesMoved()];
      this.#measuredAt = now;
    }
    return turn;
  }

  /** Measures what was moved. Called at regular intervals. */
  measure(now: number): void {
    const turn = this.look(now);
    if (turn === 'sending' || turn === 'reading') {
      this.#moved.push(this.#bytesMoved());
      this.#measuredAt = now;
      if (this.#moved.length > TICKS + 1) {
        this.#moved.shift();
      }
    }
  }

  /** Returns whether the client has had its turn for the last `TICKS` measurements and moved fewer bytes than this. */
  isStalled(minBytes: number): boolean {
    const [first = 0] = this.#moved;
    return this.#moved.length > TICKS && (this.#moved.at(-1) ?? 0) - first < minBytes;
  }

  /** Returns the bytes per second that the client has moved recently. A first interval that is not over counts in full. */
  speed(now: number, intervalMs: number): number {
    const last = this.#moved.length - 1;
    const from = Math.max(0, last - RECENT_TICKS);
    const elapsedMs = (last - from) * intervalMs + now - this.#measuredAt;
    return ((this.#bytesMoved() - (this.#moved[from] ?? 0)) * 1_000) / Math.max(intervalMs, elapsedMs);
  }

  #findTurn(): Turn {
    const { socket, responses } = this;
    const request = this.#request;
    if (responses.length > 0 || request?.complete === false) {
      this.#idle = undefined;
    }
    if (socket.writableLength > 0) {
      return 'reading';
    }
    if (responses.some(({ isRunning }) => isRunning)) {
      return 'gateway';
    }
    if (request?.complete === false) {
      return request.readableLength > 0 ? 'gateway' : 'sending'; // What has arrived is not read yet: the client cannot help it.
    }
    if (responses.length > 0) {
      return 'gateway';
    }
    if (this.#idle?.requests !== this.requests) {
      this.#idle = { bytes: socket.bytesRead, requests: this.requests };
    }
    return this.requests > 0 && socket.bytesRead === this.#idle.bytes ? 'idle' : 'sending';
  }

  #bytesMoved(): number {
    return this.turn === 'reading' ? bytesTaken(this.socket) : this.socket.bytesRead;
  }
}

/**
 * Returns the bytes that the operating system has taken. `bytesWritten` of a socket counts a chunk as soon as its write begins, however long
 * the client takes for it, so its handle is asked, as Node.js does for its own timeouts.
 */
function bytesTaken(socket: Socket & { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null }): number {
  const { bytesWritten, writeQueueSize } = socket._handle ?? {};
  return bytesWritten === undefined || writeQueueSize === undefined
    ? socket.bytesWritten - socket.writableLength
    : bytesWritten - writeQueueSize;
}
