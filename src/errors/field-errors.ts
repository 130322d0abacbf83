// Errors of resolvers: those that they throw about arguments and about values of the service, and the failures that mutations return.

import { GraphQLError, type GraphQLType, getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { isRecord } from '../lib/is-record.ts';
import { ignoreRejection } from '../lib/promises.ts';
import { InvalidCall } from '../upstream/endpoint.ts';
import {
  addUnknownOutcome,
  afterUnknownOutcome,
  type ConflictReason,
  type InputIssue,
  isUpstreamError,
  type UpstreamError,
} from '../upstream/errors.ts';
import type { WriteOutcome } from '../upstream/failures.ts';
import { findProfileProblem, findTextProblem } from '../upstream/input-rules.ts';
import { findIdProblem } from '../upstream/transport/path.ts';
import { isGraphQLError } from './located-error.ts';

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
    return Object.values(inner.getFields()).flatMap(({ name, type: fieldType, extensions }) =>
      findInputIssues(value[name], fieldType, [...path, name], extensions.isProfile === true),
    );
  }
  if (Array.isArray(value) && isListType(inner)) {
    return value.flatMap((item, i) => findInputIssues(item, inner.ofType, [...path, String(i)]));
  }
  const isId = getNamedType(inner)?.name === 'ID';
  if (typeof value !== 'string' || !(isProfile || isId)) {
    return [];
  }
  const name = path.slice(path.findLastIndex((part) => !/^\d+$/.test(part))).join('.');
  const problem = isProfile ? findProfileProblem(name, value) : (findTextProblem(name, value) ?? findIdProblem(value));
  return problem === undefined ? [] : [{ path, message: `${name} ${problem}.` }];
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

/**
 * Failure that a client can act on: a member of the mutations' result unions. All other errors of resolvers become entries of `errors[]`
 * (see `client-errors.ts`).
 */
export type Failure = { message: string; replayed: boolean } & (
  | { __typename: 'NotFoundError'; code: 'NOT_FOUND'; resource: string; id: string }
  | { __typename: 'ConflictError'; code: 'CONFLICT'; reason: ConflictReason }
  | { __typename: 'InvalidInputError'; code: 'INVALID_INPUT'; issues: InputIssue[] }
  | {
      __typename: 'UpstreamFailure';
      code: 'UPSTREAM_FAILURE';
      status: number | undefined;
      retryable: boolean;
      retryAfterSeconds: number | undefined;
      outcome: WriteOutcome;
    }
);

interface ReturnedFailures {
  /** Record that the service may not have. @default reported in `errors` */
  notFound?: { resource: string; id: string; byMessage?: boolean | undefined } | undefined;
  /** Whether conflicts are returned. Otherwise, they are reported in `errors`. */
  canConflict: boolean;
  toInputPath: (path: readonly string[]) => readonly string[];
  path: readonly string[];
  /** Whether the input is an item of a bulk mutation, which returns all failures. */
  isBulkItem: boolean;
  /** Whether a write was applied, or may have been. Then no failure says that nothing was changed. */
  hasWritten: boolean;
}

/** Returns the failure that is the result of a mutation; undefined if the error is reported in `errors`. */
export function toFailure(error: UpstreamError, returned: ReturnedFailures): Failure | undefined {
  const { notFound, canConflict, path, toInputPath, isBulkItem, hasWritten } = returned;
  if (hasWritten) {
    return isBulkItem ? toItemFailure(afterUnknownOutcome(error)) : undefined;
  }
  const { code, message, isReplayed: replayed } = error;
  const isAbsent = code === 'NOT_FOUND' || (notFound?.byMessage === true && saysNotFound(error, notFound));
  if (notFound !== undefined && isAbsent) {
    const { resource, id } = notFound;
    return { __typename: 'NotFoundError', code: 'NOT_FOUND', message, replayed, resource, id };
  }
  // 400, 422, and ids that are rejected before the call.
  if (code === 'BAD_USER_INPUT') {
    const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...toInputPath(issue.path)] }));
    return { __typename: 'InvalidInputError', code: 'INVALID_INPUT', message, replayed, issues };
  }
  // 409, and 422 of the idempotency protocol.
  if (code === 'CONFLICT' && canConflict) {
    return { __typename: 'ConflictError', code, message, replayed, reason: error.conflict };
  }
  return isBulkItem ? toItemFailure(error) : undefined;
}

/**
 * Returns the result of a read, and null also if the service reports with 400 that the record is missing, as it does for some.
 *
 * @param record type of the record, such as `Subscriber`, and its id
 */
export const nullIfAbsent = <Body>(
  read: Promise<Body>,
  record: { resource: string; id: string },
): Promise<Body | null> =>
  read.catch((error) => (isUpstreamError(error) && saysNotFound(error, record) ? null : Promise.reject(error)));

/** Whether the service reports with 400 that the record is missing, so that only the message says so. It can also miss others, such as one that uses it. */
function saysNotFound({ status, message }: UpstreamError, { resource, id }: { resource: string; id: string }): boolean {
  const bare = message.replace(` ${id} `, ' '); // Once, because an id can be a word of the sentence.
  const words = bare.split(/\s+/).filter((word) => bare !== message || /\w(?:.*\w)?/.exec(word)?.[0] !== id);
  const noun = resource.replace(/\B[A-Z]/g, ' ?$&');
  const forms = [
    `not find (?:(?:the|an?|any) )?${noun}\\b`,
    `no (?:such ${noun}\\b|${noun} (?:with|named|exists)\\b)`,
    `${noun}(?:Id)?(?:\\W+(?:with|the|id|identifier|named?|was|is|could|can))*\\W+(?:not (?:be )?found|(?:does(?: not|n't)|not) exist)\\b`,
  ];
  return status === 400 && new RegExp(`\\b(?:${forms.join('|')})`, 'i').test(words.join(' '));
}

const toItemFailure = (error: UpstreamError): Failure => ({
  __typename: 'UpstreamFailure',
  code: 'UPSTREAM_FAILURE',
  message: error.message,
  replayed: error.isReplayed,
  status: error.status,
  retryable: error.retryable,
  retryAfterSeconds: error.retryAfterSeconds,
  outcome: error.outcome ?? 'UNKNOWN',
});

/** Returns the error of a field after a write that was applied, or may have been. Other errors than these are masked, with the same outcome. */
export function afterWrite(error: unknown): unknown {
  if (isGraphQLError(error)) {
    const extensions = { ...error.extensions, retryable: false, outcome: 'UNKNOWN' };
    return new GraphQLError(addUnknownOutcome(error.message), { originalError: error, extensions });
  }
  if (error instanceof InvalidCall) {
    return new TypeError(error.message, { cause: error });
  }
  return isUpstreamError(error) ? afterUnknownOutcome(error) : error;
}

/** Checks whether an error is a response of the service that rejects the input (400, 422). */
export const isRejectedInput = (error: unknown): boolean =>
  isUpstreamError(error) && error.code === 'BAD_USER_INPUT' && error.sent;
