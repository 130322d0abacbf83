import type { UpstreamRateLimit } from '../errors.ts';
import type { Headers } from './attempt.ts';
import { headerOf } from './body.ts';

/** Maximum characters of `RateLimit-Policy` that are read. */
const MAX_POLICY_LENGTH = 512;

/** Matches the parameter `category` of a policy, but not inside a quoted string: `80;w=5;comment="token bucket";category="trigger"`. */
const CATEGORY = /^(?:"(?:[^"\\]|\\.)*"|[^"])*?;\s*category\s*=\s*("?)([\w .-]{1,64})\1\s*(?:[,;]|$)/i;

/** Matches the name of the first policy, as in newer drafts: `"default";q=100;w=10`. */
const POLICY_NAME = /^\s*"([\w .-]{1,64})"/;

/** Matches a count. In `RateLimit-Limit`, window descriptions may follow. */
const COUNT = /^\s*(\d{1,9})\s*(?:[,;]|$)/;

const SECONDS = /^\s*(\d{1,13}(?:\.\d{1,9})?)\s*(?:[,;]|$)/;

/** Maximum accepted time. Limits are per month at most. */
const MAX_RESET_SECONDS = 31 * 86_400;

/** Greater values are a time since 1970, not a duration. */
const EPOCH_SECONDS = 1e8;

/** Greater values are a time since 1970 in milliseconds, not seconds. */
const EPOCH_MILLISECONDS = 1e11;

/**
 * Reads `RateLimit-Limit`, `-Remaining` and `-Reset`, with or without `X-`. A 429 means that none remain, and its `Retry-After`
 * overrides the reset. `RateLimit-Policy` names the category. Malformed and implausible values are ignored. Runs for every response, so it returns early without these headers.
 *
 * @returns undefined if the response doesn't say how many calls remain
 */
export function readRateLimit(status: number, headers: Headers, now?: number): UpstreamRateLimit | undefined {
  const remainingHeader = headerOf(headers, 'ratelimit-remaining') ?? headerOf(headers, 'x-ratelimit-remaining');
  if (remainingHeader === undefined && status !== 429) {
    return undefined;
  }
  const remaining = status === 429 ? 0 : parseCount(remainingHeader);
  const limit = parseCount(headerOf(headers, 'ratelimit-limit') ?? headerOf(headers, 'x-ratelimit-limit'));
  if (remaining === undefined || (limit === 0 && status !== 429)) {
    return undefined; // A limit of 0 can't be meant: this call was allowed.
  }
  const retryAfter = status === 429 ? parseRetryAfter(headerOf(headers, 'retry-after'), now) : undefined;
  const reset = headerOf(headers, 'ratelimit-reset') ?? headerOf(headers, 'x-ratelimit-reset');
  const policy = headerOf(headers, 'ratelimit-policy') ?? headerOf(headers, 'x-ratelimit-policy');
  return { limit, remaining, resetSeconds: retryAfter ?? parseReset(reset, now), category: readCategory(policy) };
}

/** Returns the category that a policy names first, or else the name of the first policy. */
function readCategory(header = ''): string | undefined {
  const policies = header.slice(0, MAX_POLICY_LENGTH);
  return CATEGORY.exec(policies)?.[2] ?? POLICY_NAME.exec(policies)?.[1];
}

function parseCount(header: string | undefined): number | undefined {
  const digits = header === undefined ? undefined : COUNT.exec(header)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns seconds from now. The header is a duration in seconds, or a time in seconds or milliseconds since 1970. */
function parseReset(header: string | undefined, now: number = Date.now()): number | undefined {
  const digits = header === undefined ? undefined : SECONDS.exec(header)?.[1];
  if (digits === undefined) {
    return undefined;
  }
  const value = Number(digits);
  const time = value > EPOCH_MILLISECONDS ? value / 1_000 : value;
  const seconds = Math.ceil(time > EPOCH_SECONDS ? time - now / 1_000 : time);
  return Math.abs(seconds) > MAX_RESET_SECONDS ? undefined : Math.max(0, seconds);
}

/** Upper bound in seconds; fits the schema's Int. */
const MAX_RETRY_AFTER = 999_999_999;

/** Matches HTTP dates. `Date.parse` accepts nearly any text with a number in it, such as -1 or 1.5. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/;

/** Parses `Retry-After` (RFC 9110, 10.2.3), a date or seconds, into whole seconds. Returns undefined if it is malformed. */
export function parseRetryAfter(header: string | undefined, now: number = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) {
    return Number(text);
  }
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(MAX_RETRY_AFTER, Math.max(0, Math.ceil((date - now) / 1000)));
}
