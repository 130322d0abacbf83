import { type Endpoint, isUpstreamError, type UpstreamErrorCode } from '../errors/errors.ts';
import type { Exchange } from './exchange.ts';

/** Result of a request: the class of its status, or the kind of failure. */
export type RequestResult = '2xx' | '4xx' | '5xx' | UpstreamErrorCode | 'OTHER';

export type CircuitState = 'closed' | 'probing' | 'open';

/** How the service is called at present. */
export interface UpstreamState {
  circuit: CircuitState;
  /** Calls that wait for others of their credential. */
  waiting: number;
}

/** Whoever wants to know how the service is called. */
export interface UpstreamObserver {
  /** A request has ended; each retry is one. */
  ended(endpoint: Endpoint, result: RequestResult, milliseconds: number): void;
  /** Given once: reads the present state. */
  watch(getState: () => UpstreamState): void;
}

/** Tells the observer of every request, and answers as before. */
export const observeExchange =
  (exchange: Exchange, observer: UpstreamObserver): Exchange =>
  (request, signal) => {
    const startedAt = performance.now();
    const ended = (result: RequestResult) => observer.ended(request.endpoint, result, performance.now() - startedAt);
    const answer = exchange(request, signal);
    answer.then(
      () => ended('2xx'),
      (failure: unknown) => ended(resultOf(failure)),
    );
    return answer; // Not what `then` returns: nobody waits for the observer.
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
