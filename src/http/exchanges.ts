import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';

/** Requests that a server holds, counted as they come and go. */
export interface Exchanges {
  /** Classes to create the server with: they do the counting. */
  readonly classes: { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse };
  /** Requests that have arrived completely and are not answered. */
  running(): number;
  /** Bytes of request bodies in memory, of requests on their way and of those that are being answered. */
  receivedBytes(): number;
  /** Bytes of responses that clients have not taken. */
  unsentBytes(): number;
  /** Waits until every response is finished or its connection closed. */
  finished(): Promise<void>;
}

/**
 * Counts in the methods that Node.js calls for every request anyway. No event tells that a body has arrived which nobody reads; and with a
 * second listener for the same event, V8 may allocate each response's array of listeners among the old objects, where it keeps the response
 * alive until the next full garbage collection.
 */
export function createExchanges(connectionOf: (socket: Socket) => Connection | undefined): Exchanges {
  let [open, running, receivedBytes] = [0, 0, 0];
  /** Connections that did not take a whole response at once. Few do not. */
  const unread = new Set<Connection>();
  const waiting: (() => void)[] = [];

  class Request extends IncomingMessage {
    response: Response | undefined;

    /** Takes a part of the body, or null at its end. */
    override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
      if (chunk === null) {
        this.response?.onArrived();
      } else {
        this.response?.onReceived(chunk.length);
      }
      return super.push(chunk, encoding);
    }
  }

  class Response extends ServerResponse<Request> {
    isRunning = false;
    receivedBytes = 0;
    #isOpen = true;
    readonly #connection: Connection | undefined;

    constructor(request: Request, ...options: readonly unknown[]) {
      super(request, ...(options as [])); // Their number and form are between Node.js and its class.
      request.response = this;
      open += 1;
      this.#connection = connectionOf(request.socket);
      this.#connection?.open(this);
    }

    onReceived(bytes: number): void {
      if (this.#isOpen) {
        this.receivedBytes += bytes;
        receivedBytes += bytes;
      }
    }

    onArrived(): void {
      if (!this.writableEnded && this.#isOpen) {
        this.isRunning = true;
        running += 1;
      }
    }

    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      super.end(chunk as never, encoding as never, callback as never);
      this.#stopRunning();
      if (this.#connection !== undefined && this.writableLength > 0) {
        unread.add(this.#connection);
      }
      return this;
    }

    /** Takes the connection away from the response, because it is finished. */
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket);
      this.leave();
    }

    leave(): void {
      if (this.#isOpen) {
        this.#isOpen = false;
        this.#stopRunning();
        receivedBytes -= this.receivedBytes;
        this.receivedBytes = 0;
        this.#connection?.close(this);
        open -= 1;
        if (open === 0) {
          for (const resolve of waiting.splice(0)) {
            resolve();
          }
        }
      }
    }

    #stopRunning(): void {
      if (this.isRunning) {
        this.isRunning = false;
        running -= 1;
      }
    }
  }

  return {
    // Node.js gives a response the request that it made, which its types cannot say.
    classes: { IncomingMessage: Request, ServerResponse: Response as unknown as typeof ServerResponse },
    running: () => running,
    receivedBytes: () => receivedBytes,
    unsentBytes() {
      let sum = 0;
      for (const connection of unread) {
        const bytes = connection.unsentBytes;
        sum += bytes;
        if (bytes === 0) {
          unread.delete(connection);
        }
      }
      return sum;
    },
    async finished() {
      if (open > 0) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
