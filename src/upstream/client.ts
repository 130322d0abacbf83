import type { Settings } from '../settings/settings.ts';
import type { CallLog } from './call-log.ts';
import { type Endpoint, isUpstreamError, type UpstreamError } from './errors/errors.ts';
import { callBudgetExceeded, clientClosed, endedEarly, missingCredential } from './errors/failures.ts';
import type { UpstreamRateLimit } from './errors/rate-limit.ts';
import type { UpstreamCall, UpstreamRequest, UpstreamWrite, WriteResult } from './request.ts';
import { isTimeoutError } from './resilience/abortable.ts';
import { type CircuitBreakerSettings, createCircuitBreaker } from './resilience/circuit-breaker.ts';
import { createCoalescing } from './resilience/coalescing.ts';
import { type ConcurrencySettings, limitConcurrency } from './resilience/concurrency.ts';
import { createOperationDeadline, type OperationDeadline } from './resilience/operation-deadline.ts';
import { createRetry, type RetrySettings } from './resilience/retry.ts';
import { createThrottle } from './resilience/throttle.ts';
import { createExchange, type ExchangeSettings, type UpstreamResult } from './transport/exchange.ts';
import { observeExchange, type UpstreamObserver } from './transport/observer.ts';
import { assertPathParams, fillRoute } from './transport/path.ts';
import type { Signal } from './transport/signal.ts';
import type { SocketPool } from './transport/socket-pool.ts';

export type { UpstreamRateLimit };

/** Settings of the upstream client. */
export type UpstreamSettings = Pick<
  Settings,
  'upstream' | 'maxUpstreamCalls' | 'maxBulkItems' | 'upstreamIdempotency'
> &
  ConcurrencySettings &
  RetrySettings &
  CircuitBreakerSettings &
  ExchangeSettings;

/** Dependencies of an upstream client. */
export interface UpstreamDeps {
  /** Sockets to the service, from `createDispatcher`. */
  dispatcher: SocketPool;
  /** Called for every request sent upstream. @default none */
  observer?: UpstreamObserver | undefined;
  /** Monotonic clock of circuit breaker and throttle, in milliseconds. @default performance.now */
  monotonicNow?: (() => number) | undefined;
  /** Source of random numbers from 0 to 1, for the jitter of retries. @default Math.random */
  random?: (() => number) | undefined;
}

/** Credential, deadline and cancellation of the operation that makes the calls. */
export interface Caller {
  /** `Authorization` header, forwarded unchanged. If undefined, every call fails before it is sent. */
  authorization: string | undefined;
  /** Aborts every call when the client disconnects. */
  signal: Signal;
  /** Deadline of the operation, on the clock of `performance.now()`. Queueing and retries count too. */
  deadlineAt: number;
  /** Sent as `X-Request-Id`, to correlate the logs of both services. */
  requestId: string;
  /** Updated with every call. */
  usage: Usage;
}

/** Cost of an operation so far. */
export interface Usage {
  /** Calls made by resolvers and loaders. */
  calls: number;
  /** Items of bulk writes. */
  bulkItems: number;
  /** Requests sent for these calls: fewer if calls were coalesced, more if calls were retried. */
  requests: number;
  /** The service's own rate limit, from the response with the fewest calls remaining. Absent if the service reported none. */
  rateLimit?: UpstreamRateLimit;
  /** Records the calls for the log. @default none: the log does not have the level `debug` */
  log?: CallLog;
}

/**
 * Client of the upstream service, bound to one caller. Fails only with `UpstreamError`. The fields of a record are not validated here,
 * because GraphQL validates the requested ones.
 */
export interface UpstreamClient {
  /** Returns null if the service has no such record (404, 410). */
  read<T>(call: UpstreamCall): Promise<T | null>;
  /** Sends a write. Unlike `read`, fails with `NOT_FOUND` if the service has no such record. */
  write<T>(call: UpstreamWrite): Promise<WriteResult<T>>;
}

/** Binds the client to one caller. Called for every operation. */
export type BindCaller = (caller: Caller) => UpstreamClient;

/** Creates the client and its policies, which all callers share. */
export function createUpstreamClient(settings: UpstreamSettings, deps: UpstreamDeps): BindCaller {
  const { upstream, maxUpstreamCalls, maxBulkItems, upstreamIdempotency } = settings;
  const { dispatcher, observer, monotonicNow, random } = deps;
  const prefix = upstream.pathname.replace(/\/+$/, '');
  const throttle = createThrottle(settings, monotonicNow);
  const unobserved = createExchange({ origin: upstream.origin, dispatcher }, settings, throttle.note);
  const exchange = observer === undefined ? unobserved : observeExchange(unobserved, observer);
  const coalescing = createCoalescing<UpstreamResult>();
  const concurrency = limitConcurrency(settings);
  const retry = createRetry(settings, random);
  const circuitBreaker = createCircuitBreaker(settings, monotonicNow);
  observer?.watch(() => ({ circuit: circuitBreaker.state(), waiting: concurrency.waiting() }));

  /** Applies the policies to one request, from the outside in. Its callers apply the operation's deadline and coalescing. */
  function send(request: UpstreamRequest, caller: Caller, signal: Signal): Promise<UpstreamResult> {
    const { endpoint, authorization, call } = request;
    const { usage } = caller;
    usage.log?.startCall(request);
    const isRepeatable =
      endpoint.method === 'GET' ||
      endpoint.method === 'PUT' ||
      (upstreamIdempotency && call.idempotencyKey !== undefined);
    return concurrency(authorization, endpoint, signal, () =>
      retry({ isRepeatable, signal, deadlineAt: caller.deadlineAt }, () =>
        throttle(authorization, endpoint, () =>
          circuitBreaker(endpoint, () => {
            usage.requests += 1;
            const result = exchange(request, signal);
            return usage.log === undefined ? result : usage.log.attempt(request, result);
          }),
        ),
      ),
    );
  }

  /** Validates a call before it is sent, and counts it. */
  function prepare(caller: Caller, call: UpstreamRequest['call']): UpstreamRequest {
    const endpoint: Endpoint = { method: call.method ?? 'GET', route: call.route };
    const { authorization, requestId, usage } = caller;
    if (authorization === undefined) {
      throw missingCredential(endpoint);
    }
    const path = prefix + buildPath(endpoint, call);
    const [kind, limit] = call.isBulkItem
      ? (['bulkItems', maxBulkItems] as const)
      : (['calls', maxUpstreamCalls] as const);
    if (usage[kind] >= limit) {
      throw callBudgetExceeded(endpoint, limit);
    }
    usage[kind] += 1;
    return { endpoint, authorization, path, requestId, call };
  }

  /** Runs work within the operation's deadline. Fails with an `UpstreamError` if the deadline or the client ends it early. */
  async function withinDeadline(
    { endpoint }: UpstreamRequest,
    usage: Usage,
    deadline: OperationDeadline,
    work: () => Promise<UpstreamResult>,
  ): Promise<UpstreamResult> {
    const ended = deadline.endReason();
    if (ended !== undefined) {
      throw endedEarly(endpoint, { sent: false }, ended.reason);
    }
    deadline.startCall();
    try {
      const result = await work();
      noteRateLimit(usage, result.rateLimit);
      return result;
    } catch (error) {
      if (isUpstreamError(error)) {
        noteRateLimit(usage, error.rateLimit);
      }
      throw deadline.signal.aborted ? errorAfterEnd(endpoint, error, deadline.signal.reason) : error;
    } finally {
      deadline.endCall();
    }
  }

  return (caller) => {
    const deadline = createOperationDeadline(caller.signal, caller.deadlineAt);
    return {
      async read<T>(call: UpstreamCall) {
        const request = prepare(caller, call);
        try {
          const { log } = caller.usage;
          const { body } = await withinDeadline(request, caller.usage, deadline, () => {
            const result = coalescing.read(request.authorization, request.path, deadline.signal, (shared) =>
              send(request, caller, shared),
            );
            return log === undefined ? result : log.read(request, result);
          });
          return body as T; // The contract's type: GraphQL validates the requested fields.
        } catch (error) {
          if (isUpstreamError(error) && error.code === 'NOT_FOUND') {
            return null;
          }
          throw error;
        }
      },
      async write<T>(call: UpstreamWrite) {
        const request = prepare(caller, call);
        const { body, replayed } = await withinDeadline(request, caller.usage, deadline, () =>
          coalescing.write(request.authorization, () => send(request, caller, deadline.signal)),
        );
        return { body: body as T, replayed }; // As above.
      },
    };
  };
}

/** Returns the error of a call whose operation ended while it was in flight. If the client disconnected, no other failure matters. */
function errorAfterEnd(endpoint: Endpoint, error: unknown, reason: unknown): UpstreamError {
  if (!isUpstreamError(error)) {
    return endedEarly(endpoint, { sent: true }, reason);
  }
  return isTimeoutError(reason) || error.code === 'CLIENT_CLOSED' ? error : clientClosed(endpoint, error, reason);
}

/** Keeps the rate limit with the fewest calls remaining. Runs for every operation that shares a response. */
function noteRateLimit(usage: Usage, rateLimit: UpstreamRateLimit | undefined): void {
  if (rateLimit !== undefined && rateLimit.remaining <= (usage.rateLimit?.remaining ?? rateLimit.remaining)) {
    usage.rateLimit = rateLimit;
  }
}

/** Returns the path and query of a call. Throws if an id can't be a single path segment. */
function buildPath(endpoint: Endpoint, { route, params, query }: UpstreamCall): string {
  if (params !== undefined) {
    assertPathParams(endpoint, params);
  }
  const path = params === undefined ? route : fillRoute(route, params);
  return query === undefined ? path : path + buildQuery(query);
}

/** Returns the query with its question mark, or an empty string. */
function buildQuery(query: NonNullable<UpstreamCall['query']>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, String(value));
    }
  }
  return search.size > 0 ? `?${search}` : '';
}
