// Makes one call, from its first reader to its result: waiting for a slot of its credential, sending, and retries.

import { removeItem } from '../../lib/lists.ts';
import { isPromise } from '../../lib/promises.ts';
import { type Deadline, isTimeoutError, type Waiting } from '../../lib/signal.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import type { CallEvents, Outcome, UpstreamRequest } from '../calls.ts';
import type { DriftCheck } from '../contract/drift.ts';
import {
  afterUnknownOutcome,
  clientClosed,
  endedEarly,
  errorOf,
  isUpstreamError,
  storedFailure,
  type UpstreamError,
} from '../errors.ts';
import type { CircuitBreaker } from '../policies/circuit-breaker.ts';
import type { Retry, RetryingCall } from '../policies/retry.ts';
import type { UpstreamThrottle } from '../policies/throttle.ts';
import {
  Attempt,
  type AttemptOwner,
  type BodyPlan,
  type Headers,
  type UpstreamResponse,
} from '../transport/attempt.ts';
import { planBody } from '../transport/body.ts';
import { isReplay, readRateLimit, readResponse, toDispatchOptions } from '../transport/exchange.ts';
import type { SocketPool } from '../transport/socket-pool.ts';
import { errorFromAttempt } from '../transport/to-error.ts';
import type { Lane, LaneCall } from './lane.ts';

export type CallSettings = { upstreamUrl: URL } & Pick<
  GatewaySettings,
  'attemptTimeoutMs' | 'maxConcurrentCallsPerKey' | 'maxUpstreamResponseBytes' | 'upstreamIdempotency'
>;

export interface CallPolicies {
  readonly settings: CallSettings;
  /** Number of calls that wait for others of their credential. */
  readonly waiting: { calls: number };
  readonly pool: SocketPool;
  readonly throttle: UpstreamThrottle;
  readonly breaker: CircuitBreaker;
  readonly retry: Retry;
  readonly checkDrift: DriftCheck | undefined;
}

export interface CallOptions {
  /** Reads of a credential with the same key share a call. @default none: it is not shared */
  key?: string | undefined;
  /** Whether temporary failures are retried. @default true */
  isRetried?: boolean;
  /** Called with the result before its readers are, who get it once what this returns resolves. @default nothing */
  confirm?: (outcome: Outcome) => void | Promise<void>;
  /** Called with the result of a read. Until what it returns resolves, other reads get this result. @default nothing */
  store?: (outcome: Outcome) => void | Promise<void>;
}

/** Operation that waits for the result of a call, until its deadline. */
export class Reader implements Waiting {
  readonly deadline: Deadline;
  readonly events: CallEvents;
  /** Whether it uses no stored responses. */
  readonly bypassesCache: boolean;
  readonly #onOutcome: (outcome: Outcome) => void;
  #request: UpstreamRequest | undefined;
  #call: Call | undefined;
  #isShared = false;

  /** @param onOutcome called once */
  constructor(deadline: Deadline, events: CallEvents, onOutcome: (outcome: Outcome) => void, bypassesCache = false) {
    this.deadline = deadline;
    this.events = events;
    this.bypassesCache = bypassesCache;
    this.#onOutcome = onOutcome;
  }

  /** Waits for a call, which another operation may have made. */
  wait(call: Call, request: UpstreamRequest, isShared: boolean): void {
    this.#call = call;
    this.#request = request;
    this.#isShared = isShared;
    this.deadline.add(this);
    this.events.started(request, isShared);
    call.join(this);
  }

  stop(reason: DOMException): void {
    this.#call?.leave(this, reason);
  }

  end(outcome: Outcome): void {
    this.deadline.remove(this);
    if (this.#request !== undefined) {
      this.events.ended(this.#request, outcome, this.#isShared);
    }
    this.#onOutcome(isUpstreamError(outcome) ? errorAfterEnd(outcome, this.deadline.endReason()) : outcome);
  }
}

/** Returns the error of a call whose operation may have ended while it was in flight. If the client disconnected, no other failure matters. */
const errorAfterEnd = (error: UpstreamError, reason: DOMException | undefined): UpstreamError =>
  reason === undefined || isTimeoutError(reason) || error.code === 'CLIENT_CLOSED'
    ? error
    : clientClosed(error.endpoint, error, reason);

/** State of a call: see ARCHITECTURE.md for the transitions. */
type CallState = 'new' | 'waiting' | 'sending' | 'pausing' | 'ended';

/** One call with its retries, from the first reader to the result. */
export class Call implements AttemptOwner, LaneCall, RetryingCall {
  readonly request: UpstreamRequest;
  readonly key: string | undefined;
  callerId: string;
  readonly #deadlineAt: number;
  /** Whether the service can apply it twice without harm. */
  readonly #isRepeatable: boolean;
  readonly #policies: CallPolicies;
  readonly #lane: Lane<Call>;
  readonly #options: CallOptions;
  readonly #onGone: () => void;
  /** Receiver of the operation that makes the call. */
  readonly #events: CallEvents;
  readonly #readers: Reader[] = [];
  #state: CallState = 'new';
  #waitsSince = 0;
  #retries = 0;
  #attempt: Attempt | undefined;
  #pause: NodeJS.Timeout | undefined;
  /** Failure of the last attempt that is repeated. Its outcome remains unknown if that of an earlier one was. */
  #failure: UpstreamError | undefined;
  #abortReason: unknown;
  #outcome: Outcome | undefined;

  /** @param onGone called once nothing can join it any more */
  constructor(
    policies: CallPolicies,
    lane: Lane<Call>,
    request: UpstreamRequest,
    reader: Reader,
    options: CallOptions,
    onGone: () => void,
  ) {
    this.request = request;
    this.key = options.key;
    this.callerId = request.callerId;
    this.#deadlineAt = reader.deadline.at;
    this.#isRepeatable =
      request.endpoint.repeatable ||
      (policies.settings.upstreamIdempotency && request.args.idempotencyKey !== undefined);
    this.#policies = policies;
    this.#lane = lane;
    this.#events = reader.events;
    this.#options = options;
    this.#onGone = onGone;
  }

  get credential(): string {
    return this.request.credential;
  }

  /** Adds a reader. It gets the result at once if there is one. */
  join(reader: Reader): void {
    if (this.#outcome === undefined) {
      this.#readers.push(reader);
    } else {
      reader.end(this.#outcome);
    }
  }

  /** Ends the wait of a reader whose operation has ended. The last one to leave aborts the call. */
  leave(reader: Reader, reason: DOMException): void {
    if (this.#state === 'ended') {
      return; // It waits until the cache has the result, for example: a write is entered in Redis, which takes 100 ms at most.
    }
    const { endpoint } = this.request;
    if (endpoint.method !== 'GET') {
      this.#abort(reason); // Its only reader gets what is known about the outcome.
      return;
    }
    const progress = this.#failure !== undefined ? { sent: true } : (this.#attempt ?? { sent: false }); // After a failure, it was sent before.
    removeItem(this.#readers, reader);
    if (this.#readers.length === 0) {
      this.#abort(reason);
    }
    reader.end(endedEarly(endpoint, progress, reason));
  }

  start(): void {
    const slot = this.#lane.take(this);
    if (slot === 'full') {
      this.#end(errorOf('queueFull', this.request.endpoint));
    } else if (slot === 'running') {
      this.#policies.retry.startCall();
      this.#send();
    } else {
      this.#state = 'waiting';
      this.#waitsSince = performance.now();
      this.#policies.waiting.calls += 1;
      this.#events.queued(this.request);
    }
  }

  /** Called when another call hands its slot over, perhaps because the operation of both has ended. */
  proceed(): void {
    this.#endWait();
    this.#policies.retry.startCall();
    const reasons = this.#readers.map(({ deadline }) => deadline.endReason());
    const [reason] = reasons;
    if (reason !== undefined && !reasons.includes(undefined)) {
      this.#endRunning(endedEarly(this.request.endpoint, { sent: false }, reason));
    } else {
      this.#send();
    }
  }

  resend(): void {
    clearTimeout(this.#pause);
    this.#send();
  }

  #endWait(): void {
    this.#policies.waiting.calls -= 1;
    this.#events.dequeued(this.request, performance.now() - this.#waitsSince);
  }

  #send(): void {
    const { settings, pool, throttle, breaker } = this.#policies;
    const { endpoint, credential } = this.request;
    this.#state = 'sending';
    this.#attempt = undefined;
    const refusal =
      this.#lane.refusal(endpoint) ??
      throttle.refusal(this, credential, endpoint) ??
      breaker.refusal(this, this.request) ??
      this.#events.refusal(this.request);
    if (refusal !== undefined) {
      this.#attemptEnded(refusal);
      return;
    }
    const traceHeaders = this.#events.attemptBegan(this.request, this.#retries, settings.upstreamUrl);
    const hasFailed = this.#failure !== undefined && this.#failure.code !== 'RATE_LIMITED'; // Which says nothing about the connection.
    const timeoutMs = endpoint.timeoutMs ?? settings.attemptTimeoutMs;
    const attempt = new Attempt(pool, this, timeoutMs, hasFailed, this.#lane.mayBeInvented(this));
    this.#attempt = attempt;
    try {
      attempt.send(credential, toDispatchOptions(settings.upstreamUrl.origin, this.request, traceHeaders));
    } catch (failure) {
      attempt.abort(failure); // For example a body that is not JSON. The call would keep its slot.
    }
  }

  onSocket(waitedMs: number | undefined): void {
    this.#events.sent(this.request, this.#retries, waitedMs);
  }

  planBody(status: number, headers: Headers): BodyPlan {
    return planBody(status, headers, this.#policies.settings.maxUpstreamResponseBytes, this.request.endpoint.expect);
  }

  onResponse(response: UpstreamResponse): void {
    const { pool, throttle, checkDrift } = this.#policies;
    const { request } = this;
    const isReplayed = isReplay(request, response);
    const rateLimit = isReplayed ? undefined : readRateLimit(response.status, response.headers);
    if (rateLimit !== undefined) {
      throttle.note(request.credential, request.endpoint, rateLimit);
    }
    let result: Outcome;
    try {
      const upstreamHeaders = pool.headers.secrets();
      result = readResponse(request, response, rateLimit, checkDrift, upstreamHeaders);
    } catch (failure) {
      this.onFailure(failure, isReplayed);
      return;
    }
    this.#attemptEnded(result);
  }

  onFailure(failure: unknown, isReplayed = false): void {
    const progress = this.#attempt ?? { sent: false, status: undefined };
    const { endpoint } = this.request;
    // A shorter limit of the endpoint says nothing about the service.
    const attemptTimeoutMs = Math.max(this.#policies.settings.attemptTimeoutMs, endpoint.timeoutMs ?? 0);
    const error = errorFromAttempt(endpoint, failure, progress, this.#abortReason, attemptTimeoutMs);
    this.#attemptEnded(isReplayed ? storedFailure(error) : error);
  }

  /** Every way in which an attempt ends leads here, even if it was never sent. */
  #attemptEnded(outcome: Outcome): void {
    const { throttle, breaker, retry } = this.#policies;
    const attempt = this.#attempt;
    breaker.ended(this, this.request, outcome, attempt?.startedAt !== undefined);
    throttle.ended(this, outcome);
    if (attempt !== undefined) {
      attempt.isOutage = isUpstreamError(outcome) && outcome.isOutage; // A stored failure says nothing about the connection.
      const { startedAt } = attempt;
      this.#events.attemptEnded(this.request, outcome, startedAt && performance.now() - startedAt);
      this.#lane.learn(this, this.request.endpoint, outcome);
    }
    if (this.#retries > 0) {
      retry.endRetry();
    }
    if (!isUpstreamError(outcome)) {
      this.#endRunning(outcome);
      return;
    }
    const failure = this.#failure?.outcome === 'UNKNOWN' ? afterUnknownOutcome(outcome) : outcome;
    const { isRetried = true } = this.#options;
    const delay =
      isRetried && this.#abortReason === undefined
        ? retry.delayOf(failure, this.#isRepeatable, this.#retries, this.#deadlineAt)
        : undefined;
    if (delay === undefined) {
      this.#endRunning(failure);
      return;
    }
    this.#pauseBeforeRetry(failure, delay);
  }

  /**
   * Waits with two timers, one after the other. For example, after a 503 with `Retry-After: 1`, the first ends after 1 to 1.1 seconds, and then the call asks
   * the retry budget. If that has room, the call is sent at once, and otherwise, the second one bounds the wait for it.
   */
  #pauseBeforeRetry(failure: UpstreamError, delay: number): void {
    const { retry } = this.#policies;
    this.#state = 'pausing';
    this.#failure = failure;
    this.#retries += 1;
    this.#events.retryDelayed(this.request, delay);
    // First the delay, such as 100 ms. Then the wait for the budget of retries: in an outage, others may have used it up.
    this.#pause = setTimeout(() => {
      this.#pause = setTimeout(() => {
        retry.withdraw(this);
        this.#endRunning(failure);
      }, retry.maxWaitMs(this.#deadlineAt));
      retry.request(this);
    }, delay);
  }

  #abort(reason: DOMException): void {
    this.#abortReason = reason;
    switch (this.#state) {
      case 'waiting':
        this.#lane.abandon(this);
        this.#endWait();
        this.#end(endedEarly(this.request.endpoint, { sent: false }, reason));
        break;
      case 'sending':
        this.#attempt?.abort(reason);
        break;
      case 'pausing':
        clearTimeout(this.#pause);
        this.#policies.retry.withdraw(this);
        this.#endRunning(this.#failure ?? endedEarly(this.request.endpoint, { sent: true }, reason));
        break;
    }
  }

  #endRunning(outcome: Outcome): void {
    this.#policies.retry.endCall();
    this.#lane.release(this);
    this.#end(outcome);
  }

  #end(outcome: Outcome): void {
    this.#state = 'ended';
    afterwards(this.#options.confirm?.(outcome), () => this.#answer(outcome));
  }

  #answer(outcome: Outcome): void {
    this.#outcome = outcome;
    for (const reader of this.#readers.splice(0)) {
      reader.end(outcome);
    }
    if (this.request.endpoint.method !== 'GET') {
      this.#lane.separateReads();
    }
    afterwards(this.#options.store?.(outcome), () => {
      this.#lane.stopSharing(this);
      this.#onGone();
    });
  }
}

/** Goes on with a value: at once if it is known, so that what takes no time costs no turn. Its promise must not reject. */
export function afterwards<T>(value: T | Promise<T>, next: (value: T) => void): void {
  if (isPromise(value)) {
    void value.then(next);
  } else {
    next(value);
  }
}
