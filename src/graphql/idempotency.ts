import { createHash } from 'node:crypto';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from './context.ts';
import { badUserInput } from './field-errors.ts';

/** Description of the input field `idempotencyKey`. */
export const IDEMPOTENCY_KEY =
  'A key that is unique per change, such as a UUID. If you repeat the change with the same key, a service that supports keys applies it only once. Default: the `Idempotency-Key` header.';

/** Description of the result field `replayed`. */
export const REPLAYED =
  'Whether this is the stored result of an earlier request with the same idempotency key. Nothing was changed again.';

/**
 * Derives the idempotency key that is sent upstream for one write: a digest of field name, response path and the caller's key. This lets
 * one header serve several root fields. Services store keys without the endpoint, so the caller's key itself would replay the response of
 * another endpoint.
 *
 * @param given the key of the input, which takes precedence over the request header
 * @param item the position in a bulk mutation
 * @returns the key, or undefined if the caller sent none
 * @throws {GraphQLError} BAD_USER_INPUT if the caller's key is empty
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
    throw badUserInput('idempotencyKey must not be empty. Omit it, or send a value that is unique per change.');
  }
  const { clientKind, callerId } = ctx.identity;
  const parts = [
    info.fieldName,
    info.path.key,
    key,
    ...(item === undefined ? [] : [item]),
    ...(clientKind === 'browser' ? [callerId] : []), // Browser users share a tenant's upstream key; a user must not get another's response.
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
