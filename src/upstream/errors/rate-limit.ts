import { headerOf } from '../transport/body.ts';
import type { Headers } from '../transport/receive.ts';
import { parseRetryAfter } from './retry-after.ts';

/** What the service has said about its own limit for a credential. */
export interface UpstreamRateLimit {
  /** Calls that it allows in its window. */
  limit?: number | undefined;
  /** Calls that are left in it. */
  remaining: number;
  /** Whole seconds until there are more. */
  resetSeconds?: number | undefined;
}

/** A count that a service could mean; `RateLimit-Limit` may be followed by its windows. */
const COUNT = /^\s*(\d{1,9})\s*(?:[,;]|$)/;

const SECONDS = /^\s*(\d{1,13}(?:\.\d{1,9})?)\s*(?:[,;]|$)/;

/** The longest time that is believed: limits are per month at most. */
const MAX_RESET_SECONDS = 31 * 86_400;

/** More seconds than any service means: they are counted from 1970; and more than that would be: they are milliseconds. */
const EPOCH_SECONDS = 1e8;
const EPOCH_MILLISECONDS = 1e11;

/**
 * Reads `RateLimit-Limit`, `-Remaining` and `-Reset`, with or without `X-`. A 429 says that nothing remains, and its `Retry-After` when
 * more will. What is malformed or absurd is ignored. Runs for every answer: without such headers it is two look-ups.
 *
 * @returns undefined where it is not said how much remains
 */
export function readRateLimit(status: number, headers: Headers, now?: number): UpstreamRateLimit | undefined {
  const left = headerOf(headers, 'ratelimit-remaining') ?? headerOf(headers, 'x-ratelimit-remaining');
  if (left === undefined && status !== 429) {
    return undefined;
  }
  const remaining = status === 429 ? 0 : parseCount(left);
  const limit = parseCount(headerOf(headers, 'ratelimit-limit') ?? headerOf(headers, 'x-ratelimit-limit'));
  if (remaining === undefined || (limit === 0 && status !== 429)) {
    return undefined; // A limit of no calls at all is none: this one was answered.
  }
  const retryAfter = status === 429 ? parseRetryAfter(headerOf(headers, 'retry-after'), now) : undefined;
  const reset = headerOf(headers, 'ratelimit-reset') ?? headerOf(headers, 'x-ratelimit-reset');
  return { limit, remaining, resetSeconds: retryAfter ?? parseReset(reset, now) };
}

function parseCount(header: string | undefined): number | undefined {
  const digits = header === undefined ? undefined : COUNT.exec(header)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Seconds from now; or a time, in seconds or milliseconds since 1970. */
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
