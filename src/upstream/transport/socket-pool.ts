// Pools sockets to one service, and keeps credentials apart on them.

import type { Socket } from 'node:net';
import { type Client, type Dispatcher, errors } from 'undici';
import { createSecretFiles, type SecretFiles } from '../../files/secret-files.ts';
import { removeItem } from '../../lib/lists.ts';
import { createCondition } from '../../lib/promises.ts';
import { type Connect, type ConnectorOptions, createConnector, openClient } from '../../network/connector.ts';
import { findHeaderProblem } from '../../settings/kinds.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import type { SocketStats } from '../calls.ts';
import { FairQueue } from '../policies/fair-queue.ts';

export interface WaitingHandler extends Dispatcher.DispatchHandler {
  /** Whether the caller has given up. The request is then removed from the queue. */
  readonly isAbandoned: boolean;
  /** Whether the service may not know the credential. Such requests have a share of the sockets, because clients can invent credentials. */
  readonly mayBeInvented: boolean;
  /** Whether it is sent again: on a new connection, because idle ones can lead to the same sick instance. */
  readonly isRetry: boolean;
  /** Whether the response shows an outage, perhaps only of the instance behind this connection. It is then closed, so that no retry uses it. */
  readonly isOutage: boolean;
  /**
   * Called when it gets a socket.
   *
   * @param waitedMs time for which none was free; undefined if one was
   */
  onSocket(waitedMs: number | undefined): void;
  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void;
}

/** Count of the bytes of response bodies that are being received. Updated by the receivers. */
export interface ResponseBuffer {
  bytes: number;
  readonly maxBytes: number;
}

type SocketPoolSettings = Pick<
  GatewaySettings,
  'sockets' | 'isolateConnections' | 'maxBufferedBytes' | 'socketIdleMs' | 'proxy' | 'upstreamHeaders'
>;

export type PoolRequest = Dispatcher.DispatchOptions & { headers?: Readonly<Record<string, string>> };

/** Slot for one socket. Its client reconnects on its own after the socket was closed. */
interface Slot {
  client: Client;
  /** Undefined while there is no connection. */
  socket: Socket | undefined;
  /** Credential of the last request. Says nothing without a socket. */
  credential: string | undefined;
  /** Handler of the current request; undefined while the client can accept one. */
  handler: WaitingHandler | undefined;
  idleSince: number;
  /** Time after which the socket carries no further request. */
  expiresAt: number;
}

interface Waiting {
  credential: string;
  request: PoolRequest;
  handler: WaitingHandler;
  since: number;
}

/** Share of the sockets for all credentials together that the service may not know. */
const INVENTED_SHARE = 1 / 4;

/**
 * Minimum idle time before a socket is reused for another credential, unless there is no other choice. An unsolicited response that
 * arrives within this time finds the socket idle, and closes it.
 */
const QUIET_MS = 20;

/**
 * Age at which a socket takes no further request, because long-lived ones would never reach another address of the service, or its new instances. Random
 * in between, so that sockets opened together don't end together.
 */
const [MIN_AGE_MS, MAX_AGE_MS] = [50_000, 70_000];

/** Number of idle sockets from which none is opened just to let others rest: using many in turn costs up to 10 % more CPU per request. */
const MAX_RESTING = 16;

/**
 * Pool of sockets to one origin, with one request at a time on each, in HTTP/1.1 and without following redirects. undici's `Pool` takes the
 * first free socket, so a socket could move to another credential immediately. This pool prefers, in this order: an idle socket of the same credential, one that has been idle for
 * `QUIET_MS`, a new one, the one idle the longest. Within the first two it takes the most recently used one, to use few sockets.
 */
export class SocketPool {
  readonly buffer: ResponseBuffer;
  readonly headers: SecretFiles;
  readonly #origin: string;
  readonly #limit: number;
  /** Whether a socket is closed instead of being reused for another credential. */
  readonly #isIsolated: boolean;
  readonly #clientOptions: Client.Options;
  readonly #connect: Connect;
  readonly #now: () => number;
  readonly #slots: Slot[] = [];
  /** Slots with an idle socket, in the order they became idle. */
  readonly #idle: Slot[] = [];
  /** Slots without a socket. */
  readonly #empty: Slot[] = [];
  /** Requests that wait for a socket, by their credentials, or for room in the share of those that may be invented. */
  readonly #queue = new FairQueue<Waiting>();
  readonly #queueEmpty = createCondition(() => this.#queue.size === 0);
  /** Busy sockets with credentials that may be invented. */
  #invented = 0;
  #closed: Promise<void> | undefined;

  /** @throws {SecretError} if the value of a header is invalid */
  constructor(
    origin: string,
    settings: SocketPoolSettings,
    deps: ConnectorOptions & {
      /** Bytes of responses, which several pools can share. @default counted for this pool only */
      buffer?: ResponseBuffer;
      /** Opens connections. @default over the network, as the settings say */
      connect?: Connect | undefined;
      /** Clock of the age of sockets, in milliseconds. @default performance.now */
      monotonicNow?: (() => number) | undefined;
    } = {},
  ) {
    this.buffer = deps.buffer ?? { bytes: 0, maxBytes: settings.maxBufferedBytes };
    this.headers = createSecretFiles({ name: 'headers', secrets: settings.upstreamHeaders ?? {} }, findHeaderProblem);
    this.#origin = origin;
    this.#limit = settings.sockets;
    this.#isIsolated = settings.isolateConnections === 'credential';
    this.#clientOptions = {
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0, // Each attempt has a time limit for both.
      bodyTimeout: 0,
      keepAliveTimeout: settings.socketIdleMs,
      keepAliveMaxTimeout: settings.socketIdleMs,
    };
    this.#connect = deps.connect ?? createConnector(settings, deps);
    this.#now = deps.monotonicNow ?? (() => performance.now());
  }

  /** Sends a request as soon as a socket is available. */
  dispatch(credential: string, given: PoolRequest, handler: WaitingHandler): void {
    if (this.#closed !== undefined) {
      handler.onResponseError(null, new errors.ClientClosedError());
      return;
    }
    const own = this.headers.secrets();
    const request = own.size === 0 ? given : { ...given, headers: withHeaders(given.headers, own) };
    const slot = this.#hasRoom(handler) ? this.#take(credential, handler.isRetry) : undefined;
    if (slot === undefined) {
      const owner = handler.mayBeInvented ? `invented ${credential}` : credential; // People with the same key don't wait for its share.
      this.#queue.add(owner, { credential, request, handler, since: performance.now() });
    } else {
      handler.onSocket(undefined);
      this.#send(slot, credential, request, handler);
    }
  }

  stats(): SocketStats {
    return {
      open: this.#slots.length - this.#empty.length,
      free: this.#free,
      waiting: this.#queue.count(({ handler }) => !handler.isAbandoned),
    };
  }

  get #free(): number {
    return this.#limit - this.#slots.length + this.#empty.length + this.#idle.length;
  }

  #hasRoom({ mayBeInvented }: WaitingHandler): boolean {
    return !mayBeInvented || this.#invented < Math.max(1, Math.floor(INVENTED_SHARE * this.#limit));
  }

  /** Closes every socket once all accepted requests have ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#queueEmpty.met();
    await Promise.all(this.#slots.map(({ client }) => client.close()));
  }

  /** Removes and returns the best free slot for a credential; undefined if all are busy. */
  #take(credential: string, isRetry: boolean): Slot | undefined {
    const idle = this.#idle;
    const unused = isRetry ? this.#takeEmpty() : undefined;
    if (unused !== undefined) {
      return unused;
    }
    for (let i = idle.length - 1; i >= 0; i -= 1) {
      if (idle[i]?.credential === credential) {
        return idle.splice(i, 1)[0];
      }
    }
    const quietSince = performance.now() - QUIET_MS;
    const [longestIdle] = idle;
    if (!this.#isIsolated && longestIdle !== undefined && longestIdle.idleSince <= quietSince) {
      return idle.splice(
        idle.findLastIndex(({ idleSince }) => idleSince <= quietSince),
        1,
      )[0];
    }
    if (!this.#isIsolated && idle.length >= MAX_RESTING) {
      return idle.shift();
    }
    return this.#takeEmpty() ?? idle.shift();
  }

  /** Removes and returns a slot without a socket; undefined if all have one. */
  #takeEmpty(): Slot | undefined {
    return this.#empty.pop() ?? (this.#slots.length < this.#limit ? this.#createSlot() : undefined);
  }

  #createSlot(): Slot {
    const connect: Connect = (options, callback) =>
      this.#connect(options, (...[error, socket]) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        slot.socket = socket;
        slot.expiresAt = this.#now() + MIN_AGE_MS + Math.random() * (MAX_AGE_MS - MIN_AGE_MS);
        socket.on('readable', () => {
          if (slot.handler === undefined) {
            socket.destroy(); // Needed because undici tolerates line breaks before a response.
          }
        });
        callback(null, socket);
      });
    const client = openClient(this.#origin, connect, this.#clientOptions);
    const slot: Slot = {
      client,
      socket: undefined,
      credential: undefined,
      handler: undefined,
      idleSince: 0,
      expiresAt: 0,
    };
    client.on('drain', () => this.#release(slot));
    client.on('disconnect', () => this.#onDisconnect(slot));
    this.#slots.push(slot);
    return slot;
  }

  #send(slot: Slot, credential: string, request: PoolRequest, handler: WaitingHandler): void {
    const isOfOther = this.#isIsolated && slot.credential !== credential;
    if (isOfOther || this.#now() >= slot.expiresAt) {
      slot.socket?.destroy(); // The client reconnects once it is closed, so the limit is never exceeded.
    }
    slot.credential = credential;
    slot.handler = handler;
    this.#invented += handler.mayBeInvented ? 1 : 0;
    if (!slot.client.dispatch(request, handler) && slot.client.stats.size === 0) {
      this.#release(slot); // undici rejected the request as invalid and emits no event.
    }
  }

  /** Returns a slot to the free ones. Called when its client can accept a request again. */
  #release(slot: Slot): void {
    if (slot.handler?.isOutage || this.#now() >= slot.expiresAt) {
      slot.socket?.destroy();
    }
    this.#invented -= slot.handler?.mayBeInvented ? 1 : 0;
    slot.handler = undefined;
    if (slot.socket === undefined || slot.socket.destroyed) {
      this.#empty.push(slot);
    } else {
      slot.idleSince = performance.now();
      this.#idle.push(slot);
    }
    if (this.#queue.size > 0) {
      this.#serveQueue();
    }
  }

  #serveQueue(): void {
    const isNext = ({ handler }: Waiting) => handler.isAbandoned || (this.#free > 0 && this.#hasRoom(handler));
    for (let next = this.#queue.next(isNext); next !== undefined; next = this.#queue.next(isNext)) {
      const { credential, request, handler, since } = next;
      const slot = handler.isAbandoned ? undefined : this.#take(credential, handler.isRetry);
      if (slot !== undefined) {
        handler.onSocket(performance.now() - since);
        this.#send(slot, credential, request, handler);
      }
    }
    this.#queueEmpty.check();
  }

  #onDisconnect(slot: Slot): void {
    slot.socket = undefined;
    if (removeItem(this.#idle, slot)) {
      this.#empty.push(slot);
    }
  }
}

/** Adds headers, which replace others of the same name. */
const withHeaders = (headers: PoolRequest['headers'] = {}, own: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...Object.entries(headers), ...own].map(([name, value]) => [name.toLowerCase(), value]));
