// Sends an upsert again if the service fails with 500: another one was faster, or the record was deleted, and the service keeps it.

import { afterUnknownOutcome, errorOf, isUpstreamError, type UpstreamError } from './errors.ts';
import { FAILURES } from './failures.ts';

/** Added to the message of the failure if the service can't bring back a record. */
const NOT_RESTORED = "If this record was deleted, the service can't create it again: use another id.";

/** Whether the service itself failed. */
export const isServiceFailure = ({ code, status }: UpstreamError): boolean =>
  code === 'UPSTREAM_ERROR' && status === 500;

/**
 * Sends an upsert again, and if that fails too, a last time after the write that brings back a deleted record. No read finds out about that: the service
 * would remember for hours that the record is absent. If the failures are stored ones of an earlier operation with the same idempotency key, nothing is
 * brought back, because that operation has done it.
 *
 * @param send sends the request with this number, which has an idempotency key of its own: the service has stored the failure under the one before
 * @throws {UpstreamError} whose outcome is unknown
 */
export async function sendAgain<Result>(
  send: (number: number) => Promise<Result>,
  restore: () => Promise<unknown>,
): Promise<Result> {
  try {
    return await send(2).catch(async (failure) => {
      if (!isUpstreamError(failure) || !isServiceFailure(failure)) {
        throw failure;
      }
      if (!failure.isReplayed) {
        await restore().catch((problem) => Promise.reject(isAbsent(problem) ? notRestored(failure) : problem));
      }
      return send(3);
    });
  } catch (error) {
    throw isUpstreamError(error) ? afterUnknownOutcome(error) : error;
  }
}

/** Whether the service has no such endpoint. */
const isAbsent = (error: unknown): boolean => isUpstreamError(error) && (error.isForeign || error.status === 405);

const notRestored = ({ endpoint, status, errorId }: UpstreamError): UpstreamError =>
  errorOf('failed', endpoint, { status, errorId, message: `${FAILURES.failed.message} ${NOT_RESTORED}` });
