import { ReadCache, type UpstreamCache } from './cache/read-cache.ts';
import type { Caller, Usage } from './caller.ts';
import { createDriftCheck, type ReportDeviation } from './contract/drift.ts';
import type { UpstreamRateLimit } from './errors.ts';
import { clientClosed, type Endpoint, endedEarly, isUpstreamError, type UpstreamError } from './errors.ts';
import type { CallingOperation, LoadOptions } from './load.ts';
import {
  type CircuitBreakerSettings,
  createCircuitBreaker,
  type ReportCircuitChange,
} from './policies/circuit-breaker.ts';
import { createCoalescing } from './policies/coalescing.ts';
import { type ConcurrencySettings, limitConcurrency } from './policies/concurrency.ts';
import { createOperationDeadline } from './policies/operation-deadline.ts';
import { createRetry, type RetrySettings } from './policies/retry.ts';
import { createThrottle } from './policies/throttle.ts';
import { createPrepareCall, type PrepareSettings } from './prepare-call.ts';
import type { UpstreamCall, UpstreamRequest, UpstreamWrite, WriteResult } from './request.ts';
import { createSend, type SendSettings } from './send.ts';
import { isTimeoutError, type Signal } from './signal.ts';
import { createExchange, type ExchangeSettings, type UpstreamResult } from './transport/exchange.ts';
import type { UpstreamObserver } from './transport/observer.ts';
import { serviceAddressOf } from './transport/path.ts';
import type { SocketPool } from './transport/socket-pool.ts';
import type { WriteAudit, WriteRecord } from './write-audit.ts';

export type { Caller, UpstreamRateLimit, Usage };

/** Settings of the upstream client. */
export type UpstreamSettings = PrepareSettings &
  SendSettings &
  ConcurrencySettings &
  RetrySettings &
  CircuitBreakerSettings &
  ExchangeSettings;

/** Dependencies of an upstream client. */
export interface UpstreamDeps {
  /** Sockets to the service, from `createSocketPool`. */
  pool: SocketPool;
  /** Called for every request sent upstream. @default none */
  observer?: UpstreamObserver | undefined;
  /** Called for deviations of responses from the contract. @default none: responses are not compared with it */
  reportDeviation?: ReportDeviation | undefined;
  /** Called when the circuit breaker opens and when it closes. @default not called */
  reportCircuitChange?: ReportCircuitChange | undefined;
  /** Log of writes. @default none */
  audit?: WriteAudit | undefined;
  /** Cache of reads. @default none: every read calls the service, or joins a call in flight */
  cache?: UpstreamCache | undefined;
  /** Monotonic clock of circuit breaker, throttle, cache and rate limits, in milliseconds. @default performance.now */
  monotonicNow?: (() => number) | undefined;
  /** Source of random numbers from 0 to 1, for the jitter of retries. @default Math.random */
  random?: (() => number) | undefined;
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
  const { upstream } = settings;
  const { pool, observer, reportDeviation, audit, monotonicNow, random } = deps;
  const cache =
    deps.cache &&
    new ReadCache({
      ...deps.cache,
      upstream: serviceAddressOf(upstream),
      observer,
      load,
      isLoading: (credential, key) => coalescing.isReading(credential, key),
      attemptTimeoutMs: settings.attemptTimeoutMs,
      now: monotonicNow ?? (() => performance.now()),
    });
  const prepare = createPrepareCall(settings);
  const throttle = createThrottle(settings, monotonicNow);
  const checkDrift = reportDeviation && createDriftCheck(reportDeviation, monotonicNow);
  const observed = createExchange({ origin: upstream.origin, pool }, settings, throttle.note, checkDrift, observer);
  const exchange = cache === undefined ? observed : cache.invalidation.dropRejected(observed);
  const coalescing = createCoalescing<UpstreamResult>();
  const concurrency = limitConcurrency(settings);
  const retry = createRetry(settings, random);
  const circuitBreaker = createCircuitBreaker(settings, { now: monotonicNow, onChange: deps.reportCircuitChange });
  const send = createSend(settings, { concurrency, retry, throttle, circuitBreaker, exchange });
  observer?.watch(() => ({ circuit: circuitBreaker.state(), waiting: concurrency.waiting() }));

  /** Makes a call within the operation's deadline. Fails with an `UpstreamError` if the deadline or the client ends it early. */
  async function withinDeadline<Options>(
    request: UpstreamRequest,
    operation: CallingOperation,
    makeCall: (request: UpstreamRequest, operation: CallingOperation, options: Options) => Promise<UpstreamResult>,
    options: Options,
  ): Promise<UpstreamResult> {
    const { endpoint } = request;
    const { caller, deadline } = operation;
    const { usage } = caller;
    const ended = deadline.endReason();
    if (ended !== undefined) {
      throw endedEarly(endpoint, { sent: false }, ended.reason);
    }
    deadline.startCall();
    usage.timer?.start();
    try {
      const result = await makeCall(request, operation, options);
      noteRateLimit(usage, result.rateLimit);
      return result;
    } catch (error) {
      if (isUpstreamError(error)) {
        noteRateLimit(usage, error.rateLimit);
      }
      throw deadline.signal.aborted ? errorAfterEnd(endpoint, error, deadline.signal.reason) : error;
    } finally {
      usage.timer?.end();
      deadline.endCall();
    }
  }

  function load(request: UpstreamRequest, operation: CallingOperation, options: LoadOptions): Promise<UpstreamResult> {
    return withinDeadline(request, operation, sendRead, options);
  }

  /** Makes the call of a read, or joins one. */
  function sendRead(
    request: UpstreamRequest,
    { caller, deadline }: CallingOperation,
    { key, retries, follow }: LoadOptions,
  ): Promise<UpstreamResult> {
    const { usage } = caller;
    const { log, trace } = usage;
    let isShared = true;
    const start = (signal: Signal) => {
      isShared = false;
      const sent = send(request, caller, signal, { retries });
      return { result: sent, stored: follow?.(sent) };
    };
    const result =
      key === undefined
        ? start(deadline.signal).result
        : coalescing.read(request.authorization, key, deadline.signal, start);
    if (isShared) {
      usage.shared = (usage.shared ?? 0) + 1;
      trace?.share(request.endpoint, result);
    }
    return log === undefined ? result : log.read(request, result);
  }

  /** Makes the call of a write. */
  function sendWrite(
    request: UpstreamRequest,
    { caller, deadline }: CallingOperation,
    record: WriteRecord | undefined,
  ): Promise<UpstreamResult> {
    const work = () =>
      coalescing.write(request.authorization, () => send(request, caller, deadline.signal, { record }));
    return cache === undefined
      ? work()
      : cache.invalidation.write(request, caller.deadlineAt - performance.now(), work);
  }

  return (caller) => {
    const operation: CallingOperation = { caller, deadline: createOperationDeadline(caller.signal, caller.deadlineAt) };
    return {
      async read<T>(call: UpstreamCall) {
        const request = prepare(caller, call);
        try {
          const result = await (cache === undefined
            ? load(request, operation, { key: request.path })
            : cache.read(request, operation));
          return result.body as T; // The contract's type: GraphQL validates the requested fields.
        } catch (error) {
          if (isUpstreamError(error) && error.code === 'NOT_FOUND') {
            return null;
          }
          throw error;
        }
      },
      async write<T>(call: UpstreamWrite) {
        const request = prepare(caller, call);
        const record = caller.author && audit?.begin(caller.author, request);
        const result = withinDeadline(request, operation, sendWrite, record);
        const { body, replayed } = await (record === undefined ? result : record.follow(result));
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
