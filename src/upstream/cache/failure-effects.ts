import { isUpstreamError, type UpstreamErrorCode } from '../errors.ts';
import type { WriteEnd } from './store.ts';

/** Failures of a service that is down or too slow. If it is too slow, its calls also fill the queue of their credential. */
const UNAVAILABLE = new Set<UpstreamErrorCode>(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT', 'OVERLOADED']);

/** Returns whether a stored response may be used instead: the service is unavailable, too slow, or fails. */
export const isServiceFailure = (error: unknown): boolean =>
  isUpstreamError(error) &&
  (UNAVAILABLE.has(error.code) || (error.code === 'UPSTREAM_ERROR' && (error.status ?? 0) >= 500));

/** Failures that tell something about a record, so that a stored response that shows it may be out of date: as if the write was applied. */
const TELLING = new Set<UpstreamErrorCode>(['BAD_USER_INPUT', 'NOT_FOUND', 'CONFLICT']);

/** Returns the outcome of a failed write. */
export function writeEndOf(error: unknown): WriteEnd {
  if (!isUpstreamError(error) || error.outcome === 'UNKNOWN') {
    return 'unknown';
  }
  return TELLING.has(error.code) ? 'applied' : 'not applied';
}
