import type { Dispatcher } from 'undici';
import { joinBytes } from '../../lib/join-bytes.ts';
import { timeoutError } from '../resilience/abortable.ts';
import type { Signal } from './signal.ts';
import type { SocketPool, WaitingHandler } from './socket-pool.ts';

export type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** What is done with a body. */
export interface BodyPlan {
  /** Whether it is kept, or read and thrown away so that the socket can be used again. */
  keep: boolean;
  /** One that is longer is not read to its end: the socket is closed. */
  maxBytes: number;
}

/** A complete answer. */
export interface UpstreamResponse {
  status: number;
  headers: Headers;
  /** As it came; undefined where it was not kept, was too long, or was a failure's and cut off. */
  body: Buffer | undefined;
  /** Whether it was longer than planned. */
  isTooLong: boolean;
}

/** How far a request has come. */
export interface Progress {
  /** Whether a connection has taken it: until then nothing of it can have arrived. */
  sent: boolean;
  /** Known from the headers of the answer on. */
  status: number | undefined;
}

/** What ends a request early, and how far it has come. */
export interface Attempt {
  /** Chooses the socket; empty for a request without one. */
  credential: string;
  /** Kept up to date. */
  progress: Progress;
  signal: Signal;
  /** For the whole answer, in milliseconds. */
  timeoutMs: number;
}

/** Decides about the body when the headers are known. */
export type PlanBody = (status: number, headers: Headers) => BodyPlan;

/**
 * Sends a request and collects its answer, without the streams of undici's `request()`, which cost more than everything else here.
 *
 * @returns rejects with undici's error, or at once with the signal's reason or a `TimeoutError`; but the headers of a failure, and those
 * of an answer whose body is not kept, are an answer even if the body does not come
 */
export function receive(
  dispatcher: SocketPool,
  request: Dispatcher.DispatchOptions,
  plan: PlanBody,
  attempt: Attempt,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(attempt.credential, request, new Receiver(dispatcher, plan, attempt, resolve, reject));
  });
}

/** Too much is being received at a time, by all calls together. */
export class BufferLimitError extends Error {
  override readonly name = 'BufferLimitError';
}

class Receiver implements WaitingHandler {
  readonly #pool: SocketPool;
  readonly #plan: PlanBody;
  readonly #progress: Progress;
  readonly #signal: Signal;
  readonly #resolve: (answer: UpstreamResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #leave = () => this.#end(this.#signal.reason);
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #ended: Error | undefined;
  #headers: Headers = {};
  #body: BodyPlan = { keep: false, maxBytes: 0 };
  #chunks: Buffer[] = [];
  #size = 0;
  #bufferedBytes = 0;

  constructor(
    pool: SocketPool,
    plan: PlanBody,
    { progress, signal, timeoutMs }: Attempt,
    resolve: (answer: UpstreamResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#pool = pool;
    this.#plan = plan;
    this.#progress = progress;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#end(timeoutError()), timeoutMs);
    signal.addEventListener('abort', this.#leave, { once: true });
  }

  get isAbandoned(): boolean {
    return this.#ended !== undefined;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended !== undefined) {
      controller.abort(this.#ended); // It waited for the connection, and nobody waits for it any more.
      return;
    }
    this.#controller = controller;
    this.#progress.sent = true;
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
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.byteLength;
    this.#pool.bufferedBytes += chunk.byteLength;
    if (this.#pool.bufferedBytes > this.#pool.maxBufferedBytes) {
      this.#end(new BufferLimitError('too many bytes are being received'));
    }
  }

  onResponseEnd(): void {
    this.#finish(this.#body.keep ? joinBytes(this.#chunks) : undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(error);
  }

  /** Nobody waits for it any more. */
  #end(reason: unknown): void {
    this.#ended = asError(reason);
    this.#fail(reason);
    this.#controller?.abort(this.#ended);
  }

  #fail(reason: unknown): void {
    const { status } = this.#progress;
    if (status !== undefined && (status > 299 || !this.#body.keep)) {
      this.#finish(undefined); // Its status says all that is needed.
      return;
    }
    this.#release();
    this.#reject(reason);
  }

  /** Does nothing once it has failed or finished: promises settle once. */
  #finish(body: Buffer | undefined): void {
    const { status = 0 } = this.#progress;
    this.#release();
    this.#resolve({ status, headers: this.#headers, body, isTooLong: this.#size > this.#body.maxBytes });
  }

  #release(): void {
    this.#pool.bufferedBytes -= this.#bufferedBytes;
    this.#bufferedBytes = 0;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#leave);
  }
}

/** undici wants an `Error`; a reason can be anything. */
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error('aborted'));
