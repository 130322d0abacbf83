import type { CachedResource } from '../../settings/cache.ts';
import { type Endpoint, isUpstreamError, type UpstreamErrorCode } from '../errors.ts';

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

/**
 * Answer to a read that can be cached. Stored responses: `fresh`, `revalidating` (requested again in the background), `stale` (the service failed).
 * Requests: `miss` (nothing stored, or it is too old), `bypass` (the client wants current data), `unavailable` (the store doesn't respond).
 */
export type CachedReadResult = 'fresh' | 'revalidating' | 'stale' | 'miss' | 'bypass' | 'unavailable';

/** Reason for no longer using stored responses: a write, one that may have been applied, or a key that the service rejected. */
export type InvalidationReason = 'write' | 'unknown write' | 'rejected key';

/** Receiver of a cache's metrics. */
export interface CacheObserver {
  /** Called once for each read that can be cached, with the age of a stored response. */
  read(resource: CachedResource, result: CachedReadResult, ageMs?: number): void;
  /** Called when stored responses are no longer used. */
  invalidated(reason: InvalidationReason): void;
}

/** Receiver of the upstream client's metrics. */
export interface UpstreamObserver extends CacheObserver {
  /** Called when a request ends. Every retry is a request. */
  ended(endpoint: Endpoint, result: RequestResult, milliseconds: number): void;
  /** Called once by each client, with a function that returns its current state. */
  watch(getState: () => UpstreamState): void;
}

/** Returns the result of a failed request. */
export function resultOf(failure: unknown): RequestResult {
  if (!isUpstreamError(failure)) {
    return 'OTHER';
  }
  const { status = 0 } = failure;
  if (status >= 400) {
    return status >= 500 ? '5xx' : '4xx';
  }
  return failure.code;
}
