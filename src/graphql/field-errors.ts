import {
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { ignoreRejection } from '../lib/is-promise.ts';
import { isRecord } from '../lib/is-record.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import type { InputIssue } from '../upstream/errors.ts';
import { findProfileProblem, findTextProblem } from '../upstream/input-rules.ts';
import { findIdProblem } from '../upstream/transport/path.ts';

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

/** Throws BAD_USER_INPUT unless `min <= value <= max`. */
export function assertRange(name: string, value: number, min: number, max: number): void {
  if (value < min || value > max) {
    throw badUserInput(`${name} must be between ${min} and ${max}, but is ${value}.`);
  }
}

/** Extension of the input fields of a subscriber's profile, which null clears. */
export const PROFILE = { isProfile: true } as const;

/**
 * Returns the problems of an input, at any depth: ids that no path can have, because what is created with one couldn't be read, and fields with `PROFILE`
 * that can't be sent.
 */
export function findInputIssues(
  value: unknown,
  type: GraphQLType | undefined,
  path: string[] = [],
  isProfile = false,
): InputIssue[] {
  const inner = getNullableType(type);
  if (isRecord(value) && isInputObjectType(inner)) {
    return checkedFieldsOf(inner).flatMap(({ name, type: fieldType, extensions }) =>
      value[name] == null
        ? []
        : findInputIssues(value[name], fieldType, [...path, name], extensions.isProfile === true),
    );
  }
  if (Array.isArray(value) && isListType(inner)) {
    return value.flatMap((item, i) => findInputIssues(item, inner.ofType, [...path, String(i)]));
  }
  if (typeof value !== 'string') {
    return [];
  }
  const name = path.slice(path.findLastIndex((part) => !/^\d+$/.test(part))).join('.');
  const problem = isProfile ? findProfileProblem(name, value) : (findTextProblem(name, value) ?? findIdProblem(value));
  return problem === undefined ? [] : [{ path, message: `${name} ${problem}.` }];
}

/** Returns the fields of an input that can have problems: ids, profile fields, and other inputs, of which most inputs have few. */
const checkedFieldsOf = memoizeByObject((type: GraphQLInputObjectType) =>
  Object.values(type.getFields()).filter(({ type: fieldType, extensions }) => {
    const named = getNamedType(fieldType);
    return named.name === 'ID' || extensions.isProfile === true || isInputObjectType(named);
  }),
);

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
 */
export function loadBySentId<T>(sent: string | null | undefined, load: (id: string) => Promise<T>): Promise<T> {
  let id: string;
  try {
    id = requireId(sent);
  } catch (error) {
    return reject(error); // In a list, only this item fails.
  }
  return findIdProblem(id) === undefined ? load(id) : reject(badResponse('sent an invalid id'));
}

/** Returns a rejection. Nothing handles it if a later item of its list throws. */
const reject = (error: unknown): Promise<never> => ignoreRejection(Promise.reject(error));

/** Returns an id that the service sent as text; undefined if it is no id. Some services send integers, which GraphQL accepts too. */
export function toId(sent: unknown): string | undefined {
  return typeof sent === 'number' ? String(sent) : typeof sent === 'string' ? sent : undefined;
}

/** Returns a list of parts of a record without nulls, which count as drift. Empty if the service sent none. Throws UPSTREAM_BAD_RESPONSE if it is no list. */
export function listOf<T>(sent: readonly T[] | null | undefined): readonly T[] {
  const list = sent ?? [];
  if (!Array.isArray(list)) {
    throw badResponse('sent an invalid value for this field');
  }
  return list.includes(null) ? list.filter((item) => item !== null) : list;
}
