import { badResponse, requireValue } from './field-errors.ts';

/** Returns an id that is used to load a record. Throws UPSTREAM_BAD_RESPONSE if it is missing, or neither a string nor a number. */
export function requireId(sent: string | null | undefined): string {
  const id = requireValue(sent);
  const type: string = typeof id; // Bodies are not validated, so it can have any type.
  if (type !== 'string' && type !== 'number') {
    throw badResponse('sent an invalid value for this field');
  }
  return id;
}

/** Returns a list, which is empty if the service sent none. Throws UPSTREAM_BAD_RESPONSE if it is no list. */
export function listOf<T>(sent: readonly T[] | null | undefined): readonly T[] {
  const list = sent ?? [];
  if (!Array.isArray(list)) {
    throw badResponse('sent an invalid value for this field');
  }
  return list;
}
