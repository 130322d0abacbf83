import type { Settings } from '../settings/settings.ts';
import type { Caller, Usage } from './caller.ts';
import type { CircuitBreaker, PermittedAttempt } from './policies/circuit-breaker.ts';
import type { ConcurrencyLimit } from './policies/concurrency.ts';
import type { Retries, Retry } from './policies/retry.ts';
import type { Pause, UpstreamThrottle } from './policies/throttle.ts';
import type { UpstreamRequest } from './request.ts';
import type { Signal } from './signal.ts';
import { serverAddressOf } from './transport/call-trace.ts';
import type { Exchange, UpstreamResult } from './transport/exchange.ts';
import type { WriteRecord } from './write-audit.ts';

/** Settings of sending. */
export type SendSettings = { upstream: URL } & Pick<Settings, 'upstreamIdempotency'>;

/** Policies around a request, from the outside in. All calls to the service share them. */
export interface SendPolicies {
  concurrency: ConcurrencyLimit;
  retry: Retry;
  throttle: UpstreamThrottle;
  circuitBreaker: CircuitBreaker;
  exchange: Exchange;
}

/** Options of one request. */
export interface SendOptions {
  /** Record of a write in the audit log. @default none */
  record?: WriteRecord | undefined;
  /** Whether temporary failures are retried. @default true */
  retries?: boolean | undefined;
}

/** Sends a request as the policies permit, for a caller. */
export type Send = (
  request: UpstreamRequest,
  caller: Caller,
  signal: Signal,
  options: SendOptions,
) => Promise<UpstreamResult>;

/** Creates the function that applies the policies to requests. Its callers apply the operation's deadline and coalescing. */
export function createSend(
  { upstream, upstreamIdempotency }: SendSettings,
  { concurrency, retry, throttle, circuitBreaker, exchange }: SendPolicies,
): Send {
  const server = serverAddressOf(upstream);

  /** Applies the policies in one function: a promise and closures for each of them would cost more than the policies themselves. */
  async function applyPolicies(
    request: UpstreamRequest,
    { usage, deadlineAt }: Caller,
    signal: Signal,
    { record, retries: isRetried = true }: SendOptions,
  ): Promise<UpstreamResult> {
    const { endpoint, authorization } = request;
    const { trace } = usage;
    const queued = concurrency.take(authorization, endpoint, signal, trace);
    if (queued !== undefined) {
      await queued;
    }
    const policy = isRetried ? retry : undefined;
    let retries: Retries | undefined;
    policy?.startCall();
    try {
      for (let resends = 0; ; resends += 1) {
        let probed: Pause | undefined;
        let permitted: PermittedAttempt | undefined;
        try {
          probed = throttle.enter(authorization, endpoint);
          permitted = circuitBreaker.enter(authorization, endpoint);
          record?.sending(); // Must not be sent if it throws.
          const result = await sendOnce(request, signal, usage, resends);
          circuitBreaker.leave(authorization, permitted, undefined);
          throttle.leave(authorization, probed, undefined);
          return result;
        } catch (failure) {
          circuitBreaker.leave(authorization, permitted, failure);
          throttle.leave(authorization, probed, failure);
          if (policy === undefined) {
            throw failure;
          }
          const onDelay = trace && ((milliseconds: number) => trace.retryDelayed(endpoint, milliseconds));
          retries ??= policy.retriesOf({ isRepeatable: isRepeatable(request), signal, deadlineAt, onDelay });
          await retries.next(failure);
        }
      }
    } finally {
      retries?.end();
      policy?.endCall();
      concurrency.release(authorization);
    }
  }

  /** Returns whether the service can apply a request twice without harm. */
  function isRepeatable({ endpoint, call }: UpstreamRequest): boolean {
    return (
      endpoint.method === 'GET' ||
      endpoint.method === 'PUT' ||
      (upstreamIdempotency && call.idempotencyKey !== undefined)
    );
  }

  /** Sends a request once, and counts it. */
  function sendOnce(request: UpstreamRequest, signal: Signal, usage: Usage, resends: number): Promise<UpstreamResult> {
    const { log, trace } = usage;
    usage.requests += 1;
    if (resends > 0) {
      usage.retries = (usage.retries ?? 0) + 1;
    }
    const result =
      trace === undefined
        ? exchange(request, signal)
        : trace.send({ endpoint: request.endpoint, server, resends }, (headers) => exchange(request, signal, headers));
    return log === undefined ? result : log.attempt(request, result);
  }

  return (request, caller, signal, options) => {
    caller.usage.log?.startCall(request);
    const result = applyPolicies(request, caller, signal, options);
    caller.usage.trace?.watchCall(result);
    return result;
  };
}
