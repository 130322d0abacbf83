// Sends one request on a socket, and collects its response within a time limit.

import { type Dispatcher, errors } from 'undici';
import { timeoutError } from '../../lib/signal.ts';
import { isOutageStatus } from '../failures.ts';
import type { PoolRequest, SocketPool, WaitingHandler } from './socket-pool.ts';

/** Response headers as undici passes them. */
export type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Maximum interim responses (status 1xx) to one request, because each of them extends the time limit for the headers. */
const MAX_INTERIM_RESPONSES = 10;

export interface BodyPlan {
  /** Whether the body is kept. Otherwise it is read and discarded, so that the socket can be reused. */
  keep: boolean;
  /** Maximum size. If the body is larger, the socket is closed. */
  maxBytes: number;
}

export interface UpstreamResponse {
  status: number;
  headers: Headers;
  /** Raw bytes; undefined if the body was not kept or too long, or if a failed response was truncated. */
  body: Buffer | undefined;
  /** `maxBytes`, if the body was larger. */
  exceeded: number | undefined;
}

export interface Progress {
  /** Whether the request waits, because no socket is free. @default false */
  readonly waitsForSocket?: boolean;
  /** Whether a connection has accepted the request. Until then, the service can't have received any of it. */
  readonly sent: boolean;
  /** Time at which it did, on the clock of `performance.now()`. */
  readonly sentAt?: number | undefined;
  /** Status of the response; undefined until its headers arrive. */
  readonly status: number | undefined;
}

/** Receiver of the end of an attempt. One of `onResponse` and `onFailure` is called, once. */
export interface AttemptOwner {
  /**
   * A socket is available, and the request is sent as soon as it is connected.
   *
   * @param waitedMs time for which none was available; undefined if one was
   */
  onSocket?(waitedMs: number | undefined): void;
  /** Decides how the body is treated. */
  planBody(status: number, headers: Headers): BodyPlan;
  /** The response is complete. If the headers of a failed response have arrived, or the body isn't kept, also if the body failed. */
  onResponse(response: UpstreamResponse): void;
  /** @param reason undici's error, a `TimeoutError`, or the reason of `abort` */
  onFailure(reason: unknown): void;
}

/** Error for more bytes being received, by all calls together, than allowed. */
export class BufferLimitError extends Error {
  override readonly name = 'BufferLimitError';
}

/**
 * One attempt to send a request: everything that a retry starts anew. Doesn't use undici's `request()`, because its streams cost more than everything
 * else here.
 */
export class Attempt implements WaitingHandler, Progress {
  /** A call sets it when it knows the error. Requests without a call, such as the check at start, have only the status. */
  isOutage = false;
  /** Whether the call has failed on another connection. */
  readonly isRetry: boolean;
  /** Whether the service may not know the credential, as one that a client has invented. */
  readonly mayBeInvented: boolean;
  /** Time at which a socket was available, as in `performance.now()`. */
  startedAt: number | undefined;
  sentAt: number | undefined;
  status: number | undefined;
  readonly #pool: SocketPool;
  readonly #owner: AttemptOwner;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** Reason why it was ended early. */
  #ended: Error | undefined;
  #isReported = false;
  #interimResponses = 0;
  #headers: Headers = {};
  #body: BodyPlan = { keep: false, maxBytes: 0 };
  #chunks: Buffer[] | undefined;
  #size = 0;
  #bufferedBytes = 0;

  /** @param timeoutMs time limit for the complete response, in milliseconds. It doesn't run while no socket is free */
  constructor(pool: SocketPool, owner: AttemptOwner, timeoutMs: number, isRetry = false, mayBeInvented = false) {
    this.isRetry = isRetry;
    this.mayBeInvented = mayBeInvented;
    this.#pool = pool;
    this.#owner = owner;
    this.#timeoutMs = timeoutMs;
  }

  get sent(): boolean {
    return this.sentAt !== undefined;
  }

  get waitsForSocket(): boolean {
    return this.startedAt === undefined;
  }

  get isAbandoned(): boolean {
    return this.#ended !== undefined;
  }

  /** Sends the request as soon as a socket is available. @param credential chooses the socket; empty without a credential */
  send(credential: string, request: PoolRequest): void {
    this.#pool.dispatch(credential, request, this);
  }

  abort(reason: unknown): void {
    this.#ended = reason instanceof Error ? reason : new Error('aborted'); // undici requires an error.
    this.#fail(reason);
    this.#controller?.abort(this.#ended);
  }

  onSocket(waitedMs: number | undefined): void {
    this.startedAt = performance.now();
    this.#timer = setTimeout(() => this.abort(timeoutError()), this.#timeoutMs);
    this.#owner.onSocket?.(waitedMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended !== undefined) {
      controller.abort(this.#ended); // It ended while waiting for the connection.
      return;
    }
    this.#controller = controller;
    this.sentAt = performance.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) {
      this.#interimResponses += 1;
      if (this.#interimResponses > MAX_INTERIM_RESPONSES) {
        this.abort(new errors.HeadersOverflowError('too many interim responses'));
      }
      return;
    }
    this.status = status;
    this.#headers = headers;
    this.isOutage = isOutageStatus(status);
    this.#body = this.#owner.planBody(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.byteLength;
    if (this.#size > this.#body.maxBytes) {
      this.#finish(undefined);
      controller.abort(new Error('the body is too long'));
    } else if (this.#body.keep && this.#ended === undefined) {
      this.#keep(chunk);
    }
  }

  #keep(chunk: Buffer): void {
    if (this.#chunks === undefined) {
      this.#chunks = [chunk]; // Usually the only one, and an empty array would reserve room for 17 on the first push.
    } else {
      this.#chunks.push(chunk);
    }
    this.#bufferedBytes += chunk.byteLength;
    this.#pool.buffer.bytes += chunk.byteLength;
    if (this.#pool.buffer.bytes > this.#pool.buffer.maxBytes) {
      this.abort(new BufferLimitError('too many bytes are being received'));
    }
  }

  onResponseEnd(): void {
    this.#finish(this.#body.keep ? joinBytes(this.#chunks ?? []) : undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(error);
  }

  #fail(reason: unknown): void {
    const status = this.status;
    if (status !== undefined && (status > 299 || !this.#body.keep)) {
      this.#finish(undefined); // The status is sufficient.
    } else if (this.#report()) {
      this.#owner.onFailure(reason);
    }
  }

  #finish(body: Buffer | undefined): void {
    if (this.#report()) {
      const exceeded = this.#size > this.#body.maxBytes ? this.#body.maxBytes : undefined;
      this.#owner.onResponse({ status: this.status ?? 0, headers: this.#headers, body, exceeded });
    }
  }

  /** Releases everything. Returns whether the end is still to be reported. */
  #report(): boolean {
    this.#pool.buffer.bytes -= this.#bufferedBytes;
    this.#bufferedBytes = 0;
    clearTimeout(this.#timer);
    const isFirst = !this.#isReported;
    this.#isReported = true;
    return isFirst;
  }
}

/** Sends one request without policies. @returns the response. Rejects with undici's error or a `TimeoutError` */
export function receive(
  pool: SocketPool,
  request: PoolRequest,
  { credential = '', timeoutMs, planBody }: { credential?: string; timeoutMs: number } & Pick<AttemptOwner, 'planBody'>,
): { response: Promise<UpstreamResponse>; progress: Progress } {
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
  const attempt = new Attempt(pool, { planBody, onResponse: resolve, onFailure: reject }, timeoutMs);
  attempt.send(credential, request);
  return { response: promise, progress: attempt };
}

/** Joins chunks. Copies nothing if there is only one. */
const joinBytes = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
