import { type Endpoint, isUpstreamError, type UpstreamErrorCode } from '../errors/errors.ts';
import type { Exchange } from './exchange.ts';

/** Result of a request: the class of its status, or the kind of failure. */
export type RequestResult = '2xx' | '4xx' | '5xx' | UpstreamErrorCode | 'OTHER';

/** State of the circuit breaker. */
export type CircuitState = 'closed' | 'probing' | 'open';

/** Current state of the upstream client. */
export interface UpstreamState {
  circuit: CircuitState;
  /** Queued calls, of all credentials. */
  waiting: number;
}

/** Receiver of the upstream client's metrics. */
export interface UpstreamObserver {
  /** Called when a request ends. Every retry is a request. */
  ended(endpoint: Endpoint, result: RequestResult, milliseconds: number): void;
  /** Called once, with a function that returns the current state. */
  watch(getState: () => UpstreamState): void;
}

/** Wraps an exchange to report every request to the observer. */
export const observeExchange =
  (exchange: Exchange, observer: UpstreamObserver): Exchange =>
  (request, signal) => {
    const startedAt = performance.now();
    const ended = (result: RequestResult) => observer.ended(request.endpoint, result, performance.now() - startedAt);
    const result = exchange(request, signal);
    result.then(
      () => ended('2xx'),
      (failure: unknown) => ended(resultOf(failure)),
    );
    return result; // Not the promise that `then` returns, which would wait for the observer.
  };

function resultOf(failure: unknown): RequestResult {
  if (!isUpstreamError(failure)) {
    return 'OTHER';
  }
  const { status = 0 } = failure;
  if (status >= 400) {
    return status >= 500 ? '5xx' : '4xx';
  }
  return failure.code;
}
