import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, errors } from 'undici';

/** The handler of a request that may wait for a socket. */
export interface WaitingHandler extends Dispatcher.DispatchHandler {
  /** Whether the caller has given up. The request is then dropped from the queue. */
  readonly isAbandoned: boolean;
  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void;
}

export interface SocketPoolOptions extends Omit<Client.Options, 'connect' | 'connectTimeout'> {
  /** Maximum number of sockets. */
  connections: number;
  connectTimeoutMs: number;
  /** Maximum bytes of response bodies that are being received. */
  maxBufferedBytes: number;
  /** Whether a socket is closed instead of being reused for another credential. */
  isIsolated: boolean;
}

/** A place for one socket. Its client connects again by itself after the socket was closed. */
interface Slot {
  client: Client;
  /** undefined while there is no connection. */
  socket: Socket | undefined;
  /** The credential of the last request. */
  credential: string | undefined;
  /** From taking a request until the client can take the next one. */
  isBusy: boolean;
  idleSince: number;
}

interface Waiting {
  credential: string;
  request: Dispatcher.DispatchOptions;
  handler: WaitingHandler;
}

/**
 * How long a socket must have been idle before another credential gets it, as long as there is another choice. A response that nobody
 * asked for, and that comes within this time, meets an idle socket and closes it.
 */
const QUIET_MS = 20;

/** Idle sockets above which none is opened only to let the others rest: with many sockets in turn, a request costs up to 10 % more CPU. */
const MAX_RESTING = 16;

/**
 * The sockets to one origin, one request at a time on each. undici's own `Pool` picks the first free socket, so that the most recently
 * used one goes to any other credential at once. This one prefers, in this order: an idle socket of the same credential, one that has
 * been quiet, a new one, the longest idle one. Of several it takes the most recently used one, to keep few sockets in turn.
 */
export class SocketPool {
  /** Bytes of response bodies that are being received. Kept by their receivers. */
  bufferedBytes = 0;
  readonly maxBufferedBytes: number;
  readonly #origin: string;
  readonly #limit: number;
  readonly #isIsolated: boolean;
  readonly #clientOptions: Client.Options;
  readonly #connect: buildConnector.connector;
  readonly #slots: Slot[] = [];
  /** Slots with an idle socket, the longest idle one first. */
  readonly #idle: Slot[] = [];
  /** Slots without a socket. */
  readonly #empty: Slot[] = [];
  /** Requests in order of arrival. Only while every slot is busy. */
  readonly #queue: Waiting[] = [];
  #onQueueEmpty: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    origin: string,
    { connections, connectTimeoutMs, maxBufferedBytes, isIsolated, ...clientOptions }: SocketPoolOptions,
  ) {
    this.maxBufferedBytes = maxBufferedBytes;
    this.#origin = origin;
    this.#limit = connections;
    this.#isIsolated = isIsolated;
    this.#clientOptions = { ...clientOptions, pipelining: 1, allowH2: false };
    const options: Partial<buildConnector.BuildOptions> = { allowH2: false, timeout: connectTimeoutMs };
    this.#connect = buildConnector(options as buildConnector.BuildOptions); // The types want a port, which comes with each call.
  }

  /** Sends a request as soon as there is a socket for it. */
  dispatch(credential: string, request: Dispatcher.DispatchOptions, handler: WaitingHandler): void {
    if (this.#closed !== undefined) {
      handler.onResponseError(null, new errors.ClientClosedError());
      return;
    }
    const slot = this.#queue.length === 0 ? this.#take(credential) : undefined;
    if (slot === undefined) {
      this.#queue.push({ credential, request, handler });
    } else {
      this.#send(slot, credential, request, handler);
    }
  }

  /** Closes every socket when the requests that were taken have ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#queue.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onQueueEmpty = resolve;
      });
    }
    await Promise.all(this.#slots.map(({ client }) => client.close()));
  }

  /** Removes the best slot for a credential from the free ones; undefined if all are busy. */
  #take(credential: string): Slot | undefined {
    const idle = this.#idle;
    for (let i = idle.length - 1; i >= 0; i -= 1) {
      if (idle[i]?.credential === credential) {
        return idle.splice(i, 1)[0];
      }
    }
    if (!this.#isIsolated && idle.length > 0) {
      const quietSince = performance.now() - QUIET_MS;
      const quiet = idle.findLastIndex(({ idleSince }) => idleSince <= quietSince);
      if (quiet >= 0) {
        return idle.splice(quiet, 1)[0];
      }
    }
    if (!this.#isIsolated && idle.length >= MAX_RESTING) {
      return idle.shift();
    }
    return this.#empty.pop() ?? (this.#slots.length < this.#limit ? this.#createSlot() : idle.shift());
  }

  #createSlot(): Slot {
    const client = new Client(this.#origin, {
      ...this.#clientOptions,
      connect: (options, callback) =>
        this.#connect(options, (...[error, socket]) => {
          if (error !== null) {
            callback(error, null);
            return;
          }
          slot.socket = socket;
          socket.on('readable', () => {
            if (!slot.isBusy) {
              socket.destroy(); // undici itself tolerates line breaks before a response.
            }
          });
          callback(null, socket);
        }),
    });
    const slot: Slot = { client, socket: undefined, credential: undefined, isBusy: false, idleSince: 0 };
    client.on('drain', () => this.#release(slot));
    client.on('disconnect', () => this.#forgetSocket(slot));
    this.#slots.push(slot);
    return slot;
  }

  #send(slot: Slot, credential: string, request: Dispatcher.DispatchOptions, handler: WaitingHandler): void {
    if (this.#isIsolated && slot.credential !== credential) {
      slot.socket?.destroy(); // The client connects when this one is closed, so that there are never more than the limit.
    }
    slot.credential = credential;
    slot.isBusy = true;
    if (!slot.client.dispatch(request, handler) && slot.client.stats.size === 0) {
      this.#release(slot); // undici refused the request as invalid, and emits no event.
    }
  }

  /** Called when the client can take a request again. */
  #release(slot: Slot): void {
    slot.isBusy = false;
    if (slot.socket === undefined || slot.socket.destroyed) {
      slot.credential = undefined;
      this.#empty.push(slot);
    } else {
      slot.idleSince = performance.now();
      this.#idle.push(slot);
    }
    if (this.#queue.length > 0) {
      this.#serveQueue();
    }
  }

  #serveQueue(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const slot = next.handler.isAbandoned ? undefined : this.#take(next.credential);
      if (slot === undefined && !next.handler.isAbandoned) {
        return;
      }
      this.#queue.shift();
      if (slot !== undefined) {
        this.#send(slot, next.credential, next.request, next.handler);
      }
    }
    this.#onQueueEmpty?.();
  }

  #forgetSocket(slot: Slot): void {
    slot.socket = undefined;
    const at = this.#idle.indexOf(slot);
    if (at >= 0) {
      this.#idle.splice(at, 1);
      slot.credential = undefined;
      this.#empty.push(slot);
    }
  }
}
