// Decides which bodies are read, and reads them as the endpoint expects.

import { isUtf8 } from 'node:buffer';
import { withoutByteOrderMark } from '../../files/text-file.ts';
import { isRecord } from '../../lib/is-record.ts';
import { type Expected, isIdentified, unwrap } from '../declaration/response-form.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import type { BodyPlan, Headers, UpstreamResponse } from './attempt.ts';

/** Response body that violates the contract. The message is for the log. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** Body that is larger than allowed. The message is for the caller too. */
export class BodySizeError extends BodyError {}

/** Maximum length of a list. Longer ones are rejected before they are sorted or mapped, because each item costs CPU time and memory. */
const MAX_LIST_ITEMS = 10_000;

/** Maximum size of an error body that is read, in bytes. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Maximum number of bytes that are discarded to reuse a socket. If there are more, the socket is closed. */
const MAX_DISCARDED_BYTES = 128 * 1024;

/** Decides from the headers whether a body is kept, or only read to its end so that the socket can be reused. */
export function planBody(status: number, headers: Headers, maxBodyBytes: number, expected?: Expected): BodyPlan {
  const isFailure = status > 299;
  const isText = expected === 'text' && !isFailure;
  const mayBeEmpty = headers['content-type'] === undefined; // An empty body is told from an unreadable one by its size.
  const keep = mayBeEmpty || findHeaderProblem(headers, isText) === undefined;
  return { keep, maxBytes: keep ? (isFailure ? MAX_ERROR_BYTES : maxBodyBytes) : MAX_DISCARDED_BYTES };
}

const NO_BODY = { sent: undefined, body: undefined };

/**
 * Reads the body of a 2xx response, as it was sent and without its envelope.
 *
 * @throws {BodyError} if the body violates the contract
 */
export function readSuccess(
  response: UpstreamResponse,
  { expect: expected, identifiedBy }: Pick<DeclaredEndpoint, 'expect' | 'identifiedBy'>,
): { sent: unknown; body: unknown } {
  if ((expected === 'nothing' || expected === 'value') && isEmpty(response)) {
    return NO_BODY;
  }
  if (expected === 'text') {
    return { sent: undefined, body: isEmpty(response) ? '' : readText(response, true) };
  }
  const sent = readJson(response);
  const body = expected === 'page' ? sent : unwrap(sent);
  if (isErrorObject(sent) || isErrorObject(body)) {
    throw new BodyError(`the body is an error, although the status is ${response.status}`);
  }
  if (expected === 'nothing') {
    return NO_BODY;
  }
  const list = expected === 'page' ? isRecord(sent) && sent.data : body;
  if (Array.isArray(list) && list.length > MAX_LIST_ITEMS) {
    throw new BodyError(`the list has more than ${MAX_LIST_ITEMS} items`);
  }
  const hasForm = expected === 'value' || (expected === 'record' ? isRecord(body) : Array.isArray(list));
  if (!hasForm) {
    throw new BodyError(`the body is not a ${expected}`);
  }
  if (expected === 'record' && !isIdentified(body, identifiedBy)) {
    throw new BodyError(`the record has none of ${identifiedBy.join(', ')}`);
  }
  return { sent, body };
}

/** Whether a body describes a failure, as frameworks do, and isn't a record with members of these names. */
const isErrorObject = (body: unknown): boolean =>
  isRecord(body) &&
  typeof body.statusCode === 'number' &&
  body.statusCode >= 400 &&
  body._id === undefined &&
  body.id === undefined;

export interface ErrorBody {
  /** `other` is a text, or JSON that is unreadable. */
  form: 'json' | 'none' | 'html' | 'other';
  /** Parsed JSON. Undefined if it has another form. */
  json: unknown;
}

export function readErrorBody(response: UpstreamResponse): ErrorBody {
  if (isEmpty(response)) {
    return { form: 'none', json: undefined };
  }
  try {
    return { form: 'json', json: readJson(response) };
  } catch {
    const isHtml = /\bx?html\b/i.test(headerOf(response.headers, 'content-type') ?? '');
    return { form: isHtml ? 'html' : 'other', json: undefined };
  }
}

const isEmpty = ({ headers, body }: UpstreamResponse): boolean =>
  body === undefined ? headerOf(headers, 'content-length') === '0' : body.byteLength === 0;

function readText({ status, headers, body, exceeded }: UpstreamResponse, isText = false): string {
  // The headers of other bodies that were kept are known to have none.
  const problem =
    body === undefined || headers['content-type'] === undefined ? findHeaderProblem(headers, isText) : undefined;
  if (problem !== undefined) {
    throw new BodyError(`status ${status} with ${problem}`);
  }
  if (exceeded !== undefined) {
    const size = headerOf(headers, 'content-length') ?? `more than ${exceeded}`;
    throw new BodySizeError(`the body is larger than allowed (${size} bytes; maxUpstreamResponseBytes is ${exceeded})`);
  }
  if (body === undefined) {
    throw new BodyError('the body is truncated');
  }
  if (!isUtf8(body)) {
    throw new BodyError('the body is not UTF-8');
  }
  return withoutByteOrderMark(body.toString('utf8'));
}

function readJson(response: UpstreamResponse): unknown {
  const text = readText(response);
  if (response.body !== undefined && containsLargeObject(response.body)) {
    throw new BodyError('an object has too many members');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BodyError('the body is not JSON', { cause: error });
  }
}

/** Content types that are named in the log. Others are not, because the service could quote a key in them. */
const KNOWN_TYPE =
  /^(?:text\/(?:html|plain|xml|csv)|application\/(?:xml|octet-stream|x-www-form-urlencoded))(?=\s*(?:;|$))/i;

/** Returns why the body can't be JSON, or text of any media type, judging by the headers; undefined if it can. */
function findHeaderProblem(headers: Headers, isText = false): string | undefined {
  if (!/^(?:identity)?$/i.test(headerOf(headers, 'content-encoding') ?? '')) {
    return 'a content encoding that was not requested';
  }
  const type = headerOf(headers, 'content-type') ?? '';
  return isText || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)
    ? undefined
    : `${KNOWN_TYPE.exec(type)?.[0] ?? 'another content type'} instead of JSON`;
}

/** Returns the first value of a header. */
export const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Size below which a text isn't scanned, because it can't have many more members than allowed. */
const MIN_BYTES = 1024 * 1024;

/** Maximum number of members of an object. */
const MAX_MEMBERS = 100_000;

/**
 * Returns whether JSON text contains an object with more members than allowed. Checks the text before it is parsed, because V8 can list
 * the members of an object only all at once, at 0.3 µs per member.
 */
export function containsLargeObject(json: Uint8Array): boolean {
  if (json.length < MIN_BYTES) {
    return false;
  }
  const outer: number[] = [];
  let members = 0;
  for (let i = 0; i < json.length; i += 1) {
    switch (json[i]) {
      case QUOTE:
        i = findQuote(json, i + 1);
        break;
      case OPEN:
        outer.push(members);
        members = 0;
        break;
      case CLOSE:
        members = outer.pop() ?? 0;
        break;
      case COLON:
        members += 1;
        if (members > MAX_MEMBERS) {
          return true;
        }
        break;
    }
  }
  return false;
}

/** Returns the index of the quotation mark that ends a string. */
function findQuote(json: Uint8Array, from: number): number {
  let i = from;
  while (i < json.length && json[i] !== QUOTE) {
    i += json[i] === BACKSLASH ? 2 : 1;
  }
  return i;
}
