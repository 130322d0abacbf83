// Sends an upsert again if the service fails with 500: another one was faster, or the record was deleted, and the service keeps it.

import type { Outcome, UpstreamRequest } from '../calls.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import { afterUnknownOutcome, errorOf, isUpstreamError } from '../errors.ts';

type Upsert = NonNullable<DeclaredEndpoint['upsert']>;

const MAX_REQUESTS = 3;

const NOT_RESTORED = 'The notification service failed on this request. If the record was deleted, use another id.';

/**
 * Sends an upsert, again after a 500, and then a last time after the write that brings back a deleted record. No read decides about that, because the
 * service would remember that the record is absent. If the failure is the stored one of an earlier operation with the same idempotency key, nothing is
 * brought back, because that operation has done it.
 */
export async function sendUpsert(
  request: UpstreamRequest,
  upsert: Upsert,
  send: (request: UpstreamRequest) => Promise<Outcome>,
): Promise<Outcome> {
  const key = request.args.idempotencyKey;
  let outcome = await send(request);
  for (let number = 2; number <= MAX_REQUESTS && isUpstreamError(outcome) && outcome.status === 500; number += 1) {
    const restores = number === MAX_REQUESTS && !outcome.isReplayed;
    const restored = restores ? await send({ ...request, ...restoring(request, upsert) }) : undefined;
    if (isUpstreamError(restored)) {
      return restored.isForeign || restored.status === 405 // It has no such endpoint.
        ? errorOf('failed', request.endpoint, { status: 500, errorId: outcome.errorId, message: NOT_RESTORED })
        : afterUnknownOutcome(restored);
    }
    // Under the key of the request before, the service has stored its failure.
    const next = await send({ ...request, args: { ...request.args, idempotencyKey: key && `${key}-${number}` } });
    outcome = isUpstreamError(next) ? afterUnknownOutcome(next) : next;
  }
  return outcome;
}

/** Returns what differs in the request that brings back the record. The body in `args` is that of the upsert, because its ids are those of the record. */
const restoring = ({ endpoint, path, args }: UpstreamRequest, { storedLast, restore, list }: Upsert) => ({
  endpoint: restore,
  path: path.slice(0, -endpoint.route.length) + restore.route, // After the prefix of the service.
  args: { ...args, idempotencyKey: undefined },
  body: JSON.stringify({ [list]: [{ ...args.body, [storedLast]: undefined }] }),
});
