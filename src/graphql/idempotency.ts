import { createHash } from 'node:crypto';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from './context.ts';
import { badUserInput } from './errors.ts';

/** Describes the input field `idempotencyKey`. */
export const IDEMPOTENCY_KEY =
  'New for every change and the same on a repetition, so that the service carries it out once. Default: the header Idempotency-Key.';

/** Describes the result field `replayed`. */
export const REPLAYED = 'Whether this is the stored answer of an earlier request with the same idempotency key.';

/**
 * The upstream's idempotency key of one write: a digest of field name, response path and the caller's key (the input's, or else the
 * request header's), so that one header serves several root fields. Services store a key without its endpoint: the bare key
 * would replay another endpoint's answer. undefined: the caller gave no key.
 *
 * @param item the position in a bulk mutation
 */
export function deriveIdempotencyKey(
  ctx: Pick<GatewayContext, 'idempotencyKey' | 'identity'>,
  info: Pick<GraphQLResolveInfo, 'fieldName' | 'path'>,
  given: string | null | undefined,
  item?: number,
): string | undefined {
  const key = given ?? ctx.idempotencyKey;
  if (key === undefined) {
    return undefined;
  }
  if (key.trim() === '') {
    throw badUserInput('idempotencyKey must not be empty: leave it out, or give a value that is new for every change.');
  }
  const { clientKind, callerId } = ctx.identity;
  const parts = [
    info.fieldName,
    info.path.key,
    key,
    ...(item === undefined ? [] : [item]),
    ...(clientKind === 'browser' ? [callerId] : []), // Many share a tenant's upstream key: none gets another's answer by its key.
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
