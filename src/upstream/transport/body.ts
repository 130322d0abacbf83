import { isUtf8 } from 'node:buffer';
import { isRecord } from '../../lib/is-record.ts';
import { holdsLargeObject } from './large-objects.ts';
import type { BodyPlan, Headers, UpstreamResponse } from './receive.ts';

/** A body that breaks the contract: its message is for the log. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** What a success carries: one object, a list of objects, or nothing that matters. */
export type Expected = 'record' | 'list' | 'nothing';

/** An error body is one sentence or a few; more is not read. */
const MAX_ERROR_BYTES = 64 * 1024;

/** What is read and thrown away, so that the socket can be used again; past it the socket is closed. */
const MAX_DISCARDED_BYTES = 128 * 1024;

/** Reading a body to its end lets the socket be used again, so what cannot be JSON is known before it is read. */
export function planBody(status: number, headers: Headers, expected: Expected, maxBytes: number): BodyPlan {
  const isFailure = status > 299;
  const keep = (isFailure || expected !== 'nothing') && findHeaderProblem(headers) === undefined;
  return { keep, maxBytes: keep ? (isFailure ? MAX_ERROR_BYTES : maxBytes) : MAX_DISCARDED_BYTES };
}

/**
 * Returns the body of a 2xx answer, out of its envelope.
 *
 * @param maxListItems a longer list is refused before anybody sorts it or makes objects of its items
 * @throws {BodyError} where it is not what the contract says
 */
export function readSuccess(answer: UpstreamResponse, expected: Expected, maxListItems: number): unknown {
  if (expected === 'nothing') {
    return undefined;
  }
  const body = unwrap(readJson(answer));
  if (Array.isArray(body) && body.length > maxListItems) {
    throw new BodyError(`the list has more than ${maxListItems} items`);
  }
  if (expected === 'record' ? !isRecord(body) : !(Array.isArray(body) && body.every(isRecord))) {
    throw new BodyError(`the body is not a ${expected}`);
  }
  return body;
}

/** The body of a failure; undefined when there is none that can be read. */
export function readErrorBody(answer: UpstreamResponse): unknown {
  try {
    return readJson(answer);
  } catch {
    return undefined; // The status alone decides which error it is.
  }
}

function readJson({ status, headers, body, isTooLong }: UpstreamResponse): unknown {
  if (body === undefined) {
    const problem = findHeaderProblem(headers);
    const why = isTooLong ? 'the body is larger than allowed' : 'the body was cut off';
    throw new BodyError(problem === undefined ? why : `status ${status} with ${problem}`);
  }
  if (!isUtf8(body)) {
    throw new BodyError('the body is not UTF-8');
  }
  if (holdsLargeObject(body)) {
    throw new BodyError('an object has too many members');
  }
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new BodyError('the body is not JSON', { cause: error });
  }
}

/** What is said of a content type in the log: no text that a service made up, which could quote a key. */
const KNOWN_TYPE =
  /^(?:text\/(?:html|plain|xml|csv)|application\/(?:xml|octet-stream|x-www-form-urlencoded))(?=\s*(?:;|$))/i;

/** Why a body cannot be JSON, by what the headers say of it. */
function findHeaderProblem(headers: Headers): string | undefined {
  if ((headerOf(headers, 'content-encoding') ?? 'identity') !== 'identity') {
    return 'a content encoding, although none was accepted';
  }
  const type = headerOf(headers, 'content-type') ?? '';
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)
    ? undefined
    : `${KNOWN_TYPE.exec(type)?.[0] ?? 'another content type'} instead of JSON`;
}

/** The first value of a header that should come once. */
export const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/**
 * Takes a body out of its `{ "data": … }` envelope, if it is in one.
 *
 * A workflow or subscriber may come bare and have a field `data` of its own; every such record also carries `_organizationId`,
 * which no envelope has.
 */
export const unwrap = (body: unknown): unknown =>
  isRecord(body) && Object.hasOwn(body, 'data') && !Object.hasOwn(body, '_organizationId') ? body.data : body;
