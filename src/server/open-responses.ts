import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createCondition } from '../lib/condition.ts';
import type { Connection } from './connections.ts';

/** Unfinished responses of a server, with the state of their requests. */
export interface OpenResponses {
  /** Classes to create the server with. They update the counters. */
  readonly classes: { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse };
  /** Returns the number of unfinished responses, also to requests that are still being received. */
  open(): number;
  /** Returns the number of requests that were received in full and have no complete response yet. */
  running(): number;
  /** Returns the bytes of request bodies in memory, including bodies that are still being received. */
  receivedBytes(): number;
  /** Returns the bytes of responses that are not sent yet. */
  unsentBytes(): number;
  /** Waits until every response is finished or its connection closed. */
  finished(): Promise<void>;
}

/**
 * Counts the open responses of a server. The counters are updated in overridden methods instead of event listeners, because no event reports the end of a body that
 * nobody reads. Also, with a second listener for an event, V8 may allocate a response's listener array in the old generation, which keeps the
 * response alive until the next full garbage collection.
 */
export function createOpenResponses(connectionOf: (socket: Socket) => Connection | undefined): OpenResponses {
  let [open, running, receivedBytes] = [0, 0, 0];
  /** Connections with unsent bytes when a response ended, which is rare. */
  const unread = new Set<Connection>();
  const allFinished = createCondition(() => open === 0);

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

  class Response extends ServerResponse<Request> {
    isRunning = false;
    receivedBytes = 0;
    #isOpen = true;
    readonly #connection: Connection | undefined;

    constructor(request: Request, ...options: readonly unknown[]) {
      super(request, ...(options as [])); // Undocumented arguments of Node.js are passed on unchanged.
      request.response = this;
      open += 1;
      this.#connection = connectionOf(request.socket);
      this.#connection?.addResponse(this);
    }

    onRequestData(bytes: number): void {
      if (this.#isOpen) {
        this.receivedBytes += bytes;
        receivedBytes += bytes;
      }
    }

    onRequestEnd(): void {
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

    /** Detaches the connection from the response, because it is finished. */
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket);
      this.release();
    }

    release(): void {
      if (this.#isOpen) {
        this.#isOpen = false;
        this.#stopRunning();
        receivedBytes -= this.receivedBytes;
        this.receivedBytes = 0;
        this.#connection?.removeResponse(this);
        open -= 1;
        allFinished.check();
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
    // Node.js passes instances of this request class to the response class, which its types can't express.
    classes: { IncomingMessage: Request, ServerResponse: Response as unknown as typeof ServerResponse },
    open: () => open,
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
    finished: allFinished.met,
  };
}
