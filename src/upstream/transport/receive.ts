import type { Dispatcher } from 'undici';
import { type Signal, timeoutError } from '../signal.ts';
import type { SocketPool, WaitingHandler } from './socket-pool.ts';

/** Response headers as undici passes them. */
export type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Treatment of a response body. */
export interface BodyPlan {
  /** Whether the body is kept. Otherwise it is read and discarded, so that the socket can be reused. */
  keep: boolean;
  /** Maximum size. If the body is larger, the socket is closed. */
  maxBytes: number;
}

/** Complete response. */
export interface UpstreamResponse {
  status: number;
  headers: Headers;
  /** Raw bytes; undefined if the body was not kept or too long, or if a failed response was truncated. */
  body: Buffer | undefined;
  /** Whether the body was larger than `maxBytes`. */
  isTooLong: boolean;
}

/** Progress of a request. */
export interface Progress {
  /** Whether a connection has accepted the request. Until then, the service can't have received any of it. */
  sent: boolean;
  /** Time at which it did, on the clock of `performance.now()`. */
  sentAt?: number;
  /** Status of the response; undefined until its headers arrive. */
  status: number | undefined;
}

/** Options of one attempt to send a request. */
export interface Attempt {
  /** Credential by which the socket is chosen; empty for a request without a credential. */
  credential: string;
  /** Updated while the request is in flight. */
  progress: Progress;
  /** Aborts the request. */
  signal: Signal;
  /** Time limit for the complete response, in milliseconds. */
  timeoutMs: number;
}

/** Decides how the body is treated, from status and headers. */
export type PlanBody = (status: number, headers: Headers) => BodyPlan;

/**
 * Sends a request and collects its response. Doesn't use undici's `request()`, because its streams cost more than everything else here.
 *
 * @returns the response. Rejects with undici's error, or immediately with the signal's reason or a `TimeoutError`. If the headers of
 * a failed response have arrived, or the body isn't kept, resolves even if the body fails
 */
export function receive(
  pool: SocketPool,
  request: Dispatcher.DispatchOptions,
  plan: PlanBody,
  attempt: Attempt,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    pool.dispatch(attempt.credential, request, new Receiver(pool, plan, attempt, resolve, reject));
  });
}

/** Error for more bytes being received, by all calls together, than allowed. */
export class BufferLimitError extends Error {
  override readonly name = 'BufferLimitError';
}

class Receiver implements WaitingHandler {
  readonly #pool: SocketPool;
  readonly #plan: PlanBody;
  readonly #progress: Progress;
  readonly #signal: Signal;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly abort = () => this.#end(this.#signal.reason);
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #ended: Error | undefined;
  #headers: Headers = {};
  #body: BodyPlan = { keep: false, maxBytes: 0 };
  #chunks: Buffer[] | undefined;
  #size = 0;
  #bufferedBytes = 0;

  constructor(
    pool: SocketPool,
    plan: PlanBody,
    { progress, signal, timeoutMs }: Attempt,
    resolve: (response: UpstreamResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#pool = pool;
    this.#plan = plan;
    this.#progress = progress;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#end(timeoutError()), timeoutMs);
    signal.addEventListener('abort', this.abort, { once: true });
  }

  get isAbandoned(): boolean {
    return this.#ended !== undefined;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended !== undefined) {
      controller.abort(this.#ended); // It ended while waiting for the connection.
      return;
    }
    this.#controller = controller;
    this.#progress.sent = true;
    this.#progress.sentAt = performance.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 200) {
      this.#progress.status = status;
      this.#headers = headers;
      this.#body = this.#plan(status, headers);
    }
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
      this.#end(new BufferLimitError('too many bytes are being received'));
    }
  }

  onResponseEnd(): void {
    this.#finish(this.#body.keep ? joinBytes(this.#chunks ?? []) : undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(error);
  }

  /** Ends the request early. */
  #end(reason: unknown): void {
    this.#ended = asError(reason);
    this.#fail(reason);
    this.#controller?.abort(this.#ended);
  }

  #fail(reason: unknown): void {
    const { status } = this.#progress;
    if (status !== undefined && (status > 299 || !this.#body.keep)) {
      this.#finish(undefined); // The status is sufficient.
      return;
    }
    this.#release();
    this.#reject(reason);
  }

  /** Resolves with the response. Has no effect if the promise has already settled. */
  #finish(body: Buffer | undefined): void {
    const { status = 0 } = this.#progress;
    this.#release();
    this.#resolve({ status, headers: this.#headers, body, isTooLong: this.#size > this.#body.maxBytes });
  }

  #release(): void {
    this.#pool.buffer.bytes -= this.#bufferedBytes;
    this.#bufferedBytes = 0;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.abort);
  }
}

/** Converts a reason, which can be any value, to the `Error` that undici requires. */
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error('aborted'));

/** Concatenates chunks. A single chunk is not copied. */
export function joinBytes(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}
