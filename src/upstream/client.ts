import type { GatewaySettings, Settings } from '../settings/settings.ts';
import { type Endpoint, isUpstreamError, type UpstreamError } from './errors/errors.ts';
import { callBudgetExceeded, clientClosed, endedEarly, noCredential } from './errors/failures.ts';
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

/** Settings of every call of the service. */
export type UpstreamSettings = Pick<Settings, 'maxUpstreamCalls' | 'maxBulkItems' | 'upstreamIdempotency'> &
  Pick<GatewaySettings, 'upstream'> &
  ConcurrencySettings &
  RetrySettings &
  CircuitBreakerSettings &
  ExchangeSettings;

/** Dependencies of an upstream client. */
export interface UpstreamDeps {
  /** The sockets; see `createDispatcher`. */
  dispatcher: SocketPool;
  /** Called for every request sent upstream. @default none */
  observer?: UpstreamObserver | undefined;
  /** Monotonic clock of circuit breaker and throttle, in milliseconds. @default performance.now */
  monotonicNow?: (() => number) | undefined;
  /** Returns numbers from 0 to 1, for the jitter of retries. @default Math.random */
  random?: (() => number) | undefined;
}

/** Credential, deadline and cancellation of the operation that makes the calls. */
export interface Caller {
  /** The `Authorization` header, forwarded byte for byte; without it every call fails before it is sent. */
  authorization: string | undefined;
  /** Ends every call when the caller is gone. */
  signal: Signal;
  /** When the operation has to be answered, on the clock of `performance.now()`; waiting, pauses and retries included. */
  deadlineAt: number;
  /** Sent as `X-Request-Id`, so that both services' logs can be joined. */
  requestId: string;
  /** Counts what the operation costs. */
  usage: Usage;
}

/** Cost of an operation so far. */
export interface Usage {
  /** Calls that resolvers and loaders have made. */
  calls: number;
  /** Items of bulk writes. */
  bulkItems: number;
  /** Requests that were sent for them; fewer where calls were shared, more where some were repeated. */
  requests: number;
  /** The service's own limit, where it left least; absent if it has reported none. */
  rateLimit?: UpstreamRateLimit;
}

/**
 * The upstream service as one caller sees it: the only place that knows base address, credentials and policies. Fails with
 * `UpstreamError` alone. The shape inside a record is not checked here: GraphQL checks the fields that were asked for.
 */
export interface UpstreamClient {
  /** null: the service has no such record (404, 410). */
  read<T>(call: UpstreamCall): Promise<T | null>;
  write<T>(call: UpstreamWrite): Promise<WriteResult<T>>;
}

/** Binds the service to one caller; cheap, made for every operation. */
export type BindCaller = (caller: Caller) => UpstreamClient;

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

  /** The policies around one request, from the outside in. Coalescing and the operation's deadline are around these. */
  function send(request: UpstreamRequest, caller: Caller, signal: Signal): Promise<UpstreamResult> {
    const { endpoint, authorization, call } = request;
    const isRepeatable =
      endpoint.method === 'GET' ||
      endpoint.method === 'PUT' ||
      (upstreamIdempotency && call.idempotencyKey !== undefined);
    return concurrency(authorization, endpoint, signal, () =>
      retry({ isRepeatable, signal, deadlineAt: caller.deadlineAt }, () =>
        throttle(authorization, endpoint, () =>
          circuitBreaker(endpoint, () => {
            caller.usage.requests += 1;
            return exchange(request, signal);
          }),
        ),
      ),
    );
  }

  /** Checks what can be checked without a call, and counts the call. */
  function prepare(caller: Caller, call: UpstreamRequest['call']): UpstreamRequest {
    const endpoint: Endpoint = { method: call.method ?? 'GET', route: call.route };
    const { authorization, requestId, usage } = caller;
    if (authorization === undefined) {
      throw noCredential(endpoint);
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

  /** Runs work within the operation's deadline; whatever ends it early is an `UpstreamError` too. */
  async function inTime(
    { endpoint }: UpstreamRequest,
    usage: Usage,
    time: OperationDeadline,
    work: () => Promise<UpstreamResult>,
  ): Promise<UpstreamResult> {
    const over = time.endReason();
    if (over !== undefined) {
      throw endedEarly(endpoint, { sent: false }, over.reason);
    }
    time.enter();
    try {
      const received = await work();
      noteRateLimit(usage, received.rateLimit);
      return received;
    } catch (error) {
      if (isUpstreamError(error)) {
        noteRateLimit(usage, error.rateLimit);
      }
      throw time.signal.aborted ? atEnd(endpoint, error, time.signal.reason) : error;
    } finally {
      time.leave();
    }
  }

  return (caller) => {
    const time = createOperationDeadline(caller.signal, caller.deadlineAt);
    return {
      async read<T>(call: UpstreamCall) {
        const request = prepare(caller, call);
        try {
          const { body } = await inTime(request, caller.usage, time, () =>
            coalescing.read(request.authorization, request.path, time.signal, (shared) =>
              send(request, caller, shared),
            ),
          );
          return body as T; // The contract's type: GraphQL checks the fields that are asked for.
        } catch (error) {
          if (isUpstreamError(error) && error.code === 'NOT_FOUND') {
            return null;
          }
          throw error;
        }
      },
      async write<T>(call: UpstreamWrite) {
        const request = prepare(caller, call);
        const { body, replayed } = await inTime(request, caller.usage, time, () =>
          coalescing.write(request.authorization, () => send(request, caller, time.signal)),
        );
        return { body: body as T, replayed }; // As above.
      },
    };
  };
}

/** Returns the error of a call whose operation has ended meanwhile: once the client has disconnected, no other failure matters. */
function atEnd(endpoint: Endpoint, error: unknown, reason: unknown): UpstreamError {
  if (!isUpstreamError(error)) {
    return endedEarly(endpoint, { sent: true }, reason);
  }
  return isTimeoutError(reason) || error.code === 'CLIENT_CLOSED' ? error : clientClosed(endpoint, error, reason);
}

/** Keeps what leaves least. Operations that share an answer all learn of it. */
function noteRateLimit(tally: Usage, rateLimit: UpstreamRateLimit | undefined): void {
  if (rateLimit !== undefined && rateLimit.remaining <= (tally.rateLimit?.remaining ?? rateLimit.remaining)) {
    tally.rateLimit = rateLimit;
  }
}

/** The path and query of a call; an id that cannot be one path segment is refused before anything is sent. */
function buildPath(endpoint: Endpoint, { route, params, query }: UpstreamCall): string {
  if (params !== undefined) {
    assertPathParams(endpoint, params);
  }
  const path = params === undefined ? route : fillRoute(route, params);
  return query === undefined ? path : path + searchOf(query);
}

/** The query with its question mark; empty where nothing is given. */
function searchOf(query: NonNullable<UpstreamCall['query']>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, String(value));
    }
  }
  return search.size > 0 ? `?${search}` : '';
}
