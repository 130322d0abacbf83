import { isRecord } from '../../lib/is-record.ts';
import { createCredentialFilter } from './credential-filter.ts';
import {
  type ConflictReason,
  type Endpoint,
  type InputIssue,
  UpstreamError,
  type UpstreamErrorOptions,
} from './errors.ts';
import { badResponse, down, timedOut } from './failures.ts';
import type { UpstreamRateLimit } from './rate-limit.ts';
import { parseRetryAfter } from './retry-after.ts';

/** An answer that is not 2xx, as far as it could be read. */
export interface FailedResponse {
  status: number;
  /** The parsed JSON body; undefined when there was none or it could not be read. */
  body: unknown;
  /** The header `Retry-After`. */
  retryAfter: string | undefined;
  rateLimit?: UpstreamRateLimit | undefined;
}

/** What was sent, as far as it matters to reading the answer. */
export interface FailedRequest {
  endpoint: Endpoint;
  /** The header `Authorization`, so that a sentence that quotes it is dropped. */
  authorization: string;
  /** Names of the fields of the request's body. */
  bodyFields: readonly string[];
  idempotencyKey: string | undefined;
}

/** The longest sentence of the service that is passed on. */
const MAX_SENTENCE = 500;

/** Sentences of one answer that are read. */
const MAX_SENTENCES = 20;

/** Turns a status that is not 2xx into the error of the error model; the service's own sentence is shown for what a caller can act on. */
export function errorFromResponse(request: FailedRequest, response: FailedResponse): UpstreamError {
  const { endpoint } = request;
  const { status } = response;
  const retryAfterSeconds = parseRetryAfter(response.retryAfter);
  const fail = (options: Omit<UpstreamErrorOptions, 'endpoint' | 'status'>) =>
    new UpstreamError({ endpoint, status, rateLimit: response.rateLimit, ...options });
  const isShowable = createCredentialFilter(request.authorization);
  const sentences = readSentences(response.body).filter(isShowable);
  const sentence = clip(sentences.join('; '));

  if (status < 400) {
    return badResponse(endpoint, status, `status ${status} is neither success nor failure`);
  }
  if (status === 422 && request.idempotencyKey !== undefined && speaksOfIdempotency(sentence, request.idempotencyKey)) {
    return fail({ code: 'CONFLICT', message: sentence, conflict: 'IDEMPOTENCY_KEY_REUSED' });
  }
  switch (status) {
    case 400:
    case 422:
      return fail({
        code: 'BAD_USER_INPUT',
        message: sentence || 'The notification service refused the input.',
        issues: sentences.map((message) => ({ path: findField(message, request.bodyFields), message: clip(message) })),
      });
    case 401:
      return fail({
        code: 'UNAUTHENTICATED',
        message: sentence || 'The notification service does not accept this API key.',
      });
    case 402:
      return fail({ code: 'FORBIDDEN', message: 'The plan of this API key does not include this.' });
    case 403:
      return fail({ code: 'FORBIDDEN', message: sentence || 'This API key may not do this.' });
    case 404:
    case 410:
      return fail({
        code: 'NOT_FOUND',
        message: (status === 404 && sentence) || 'The notification service has no such record.',
      });
    case 409:
      return fail({
        code: 'CONFLICT',
        message: sentence || 'The request conflicts with the present state of the record.',
        conflict: conflictReason(request, retryAfterSeconds),
        retryAfterSeconds,
      });
    case 429:
      return fail({
        code: 'RATE_LIMITED',
        message: 'The notification service limits how often this API key may call it.',
        retryable: true,
        retryAfterSeconds,
        retry: 'always',
      });
    case 502:
    case 503:
      return down(endpoint, status, retryAfterSeconds);
    case 504:
      return timedOut(endpoint, status);
    default:
      return fail({
        code: 'UPSTREAM_ERROR',
        message:
          status >= 500
            ? 'The notification service failed on this request.'
            : `The notification service refused the request (status ${status}).`,
        outcome: status >= 500 ? 'UNKNOWN' : 'NOT_APPLIED',
        errorId: readErrorId(response.body, isShowable),
      });
  }
}

/** A service answers 409 with `Retry-After` while the first request with an idempotency key still runs. */
function conflictReason(request: FailedRequest, retryAfterSeconds: number | undefined): ConflictReason {
  if (request.idempotencyKey !== undefined && retryAfterSeconds !== undefined) {
    return 'IDEMPOTENCY_IN_PROGRESS';
  }
  return request.endpoint.method === 'POST' ? 'ALREADY_EXISTS' : 'OTHER';
}

const speaksOfIdempotency = (sentence: string, key: string): boolean =>
  /idempoten/i.test(sentence) || sentence.includes(key);

/** The service's sentences: `message` is a string, a list of strings, or an object that holds some. */
function readSentences(body: unknown): string[] {
  const found: string[] = [];
  collectStrings(isRecord(body) ? body.message : undefined, found, 3);
  return found.map(withoutControls).filter((text) => text !== '');
}

function collectStrings(value: unknown, into: string[], depth: number): void {
  if (into.length >= MAX_SENTENCES) {
    return;
  }
  if (typeof value === 'string') {
    into.push(value);
  } else if (depth > 0 && Array.isArray(value)) {
    for (const item of value.slice(0, MAX_SENTENCES)) {
      collectStrings(item, into, depth - 1);
    }
  } else if (depth > 0 && isRecord(value)) {
    collectStrings(value.message ?? value.messages, into, depth - 1);
  }
}

/** Half a character is dropped like a control character: JSON can carry it, many who read JSON cannot. */
const withoutControls = (text: string): string => text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();

const clip = (text: string): string =>
  text.length > MAX_SENTENCE ? `${text.slice(0, MAX_SENTENCE - 1).replace(/\p{Cs}$/u, '')}…` : text;

/** Validators begin their sentence with the field's name; take it when it is a field that was sent. */
function findField(sentence: string, fields: readonly string[]): InputIssue['path'] {
  const first = /^\W*(\w+)/.exec(sentence)?.[1];
  return first !== undefined && fields.includes(first) ? [first] : [];
}

function readErrorId(body: unknown, isShowable: (text: string) => boolean): string | undefined {
  const id = isRecord(body) ? body.errorId : undefined;
  return typeof id === 'string' && /^[\w.:-]{1,100}$/.test(id) && isShowable(id) ? id : undefined;
}
