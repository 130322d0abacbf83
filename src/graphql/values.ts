// Creates the errors of values that clients and the service send, and reads those of the service where GraphQL doesn't check them.

import { GraphQLError } from 'graphql';
import { ignoreRejection } from '../lib/promises.ts';
import { findIdProblem } from '../upstream/input-rules.ts';

/** Creates the error of an argument that the gateway rejects before any call. */
export const badUserInput = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });

/** Creates the error of a value that violates the contract. */
export const badResponse = (problem: string): GraphQLError =>
  new GraphQLError(`The notification service ${problem}.`, { extensions: { code: 'UPSTREAM_BAD_RESPONSE' } });

/** Returns a value that the service must send. Throws UPSTREAM_BAD_RESPONSE if it is missing. Used where GraphQL doesn't check it. */
export function requireValue<T>(value: T | null | undefined): T {
  if (value == null) {
    throw badResponse('did not send a required value');
  }
  return value;
}

/** Returns an id that the service must send. Throws UPSTREAM_BAD_RESPONSE if it is missing, or neither a string nor a number. */
export function requireId(sent: string | null | undefined): string {
  const id = toId(requireValue(sent));
  if (id === undefined) {
    throw badResponse('sent an invalid value for this field');
  }
  return id;
}

/**
 * Loads a record by an id that the service sent. Rejects with UPSTREAM_BAD_RESPONSE if the id is missing or can't be part of a call. Clients
 * get BAD_USER_INPUT only for ids of their own.
 *
 * @param endpoint endpoint that gets the id, if it permits slashes
 */
export function loadBySentId<T>(
  sent: string | null | undefined,
  load: (id: string) => Promise<T>,
  endpoint?: { readonly slashesInIds: boolean },
): Promise<T> {
  let id: string;
  try {
    id = requireId(sent);
  } catch (error) {
    return reject(error); // In a list, only this item fails.
  }
  return findIdProblem(id, endpoint?.slashesInIds) === undefined ? load(id) : reject(badResponse('sent an invalid id'));
}

/** Returns a rejection. Nothing handles it if a later item of its list throws. */
const reject = (error: unknown): Promise<never> => ignoreRejection(Promise.reject(error));

/** Returns an id that the service sent as text; undefined if it is no id. Some services send integers, which GraphQL accepts too. */
export const toId = (sent: unknown): string | undefined =>
  typeof sent === 'number' ? String(sent) : typeof sent === 'string' ? sent : undefined;

/** Returns a list of parts of a record without nulls, which count as drift. Empty if the service sent none. Throws UPSTREAM_BAD_RESPONSE if it is no list. */
export function listOf<T>(sent: readonly T[] | null | undefined): readonly T[] {
  const list = sent ?? [];
  if (!Array.isArray(list)) {
    throw badResponse('sent an invalid value for this field');
  }
  return list.includes(null) ? list.filter((item) => item !== null) : list;
}
