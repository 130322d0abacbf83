import { headerOf } from '../transport/body.ts';
import type { Headers } from '../transport/receive.ts';
import { parseRetryAfter } from './retry-after.ts';

/** The service's own rate limit for a credential. */
export interface UpstreamRateLimit {
  /** Calls allowed per window. */
  limit?: number | undefined;
  /** Calls left in the current window. */
  remaining: number;
  /** Whole seconds until the window resets. */
  resetSeconds?: number | undefined;
}

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
 * overrides the reset. Malformed and implausible values are ignored. Runs for every response, so it returns early without these headers.
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
  return { limit, remaining, resetSeconds: retryAfter ?? parseReset(reset, now) };
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
