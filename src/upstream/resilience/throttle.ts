import { LRUCache } from 'lru-cache';
import type { Settings } from '../../settings/settings.ts';
import { type Endpoint, isUpstreamError } from '../errors/errors.ts';
import { heldBack } from '../errors/failures.ts';
import type { UpstreamRateLimit } from '../errors/rate-limit.ts';

/** A limit that ends within this time, in seconds, holds nothing back. */
const MIN_SECONDS = 3;

/** Longest time without a call, in seconds, whatever the service says. */
const MAX_SECONDS = 60;

/** Runs an attempt, or fails at once with RATE_LIMITED while the service wants no calls of its credential. */
export interface UpstreamThrottle {
  <T>(credential: string, endpoint: Endpoint, attempt: () => Promise<T>): Promise<T>;
  /** An answer has said this. */
  note(credential: string, rateLimit: UpstreamRateLimit): void;
}

interface Hold {
  until: number;
  /** Whether the service wants a longer time: then one call tries, before the others follow. */
  isCutShort: boolean;
  isTrying: boolean;
  limit: number | undefined;
}

/** Maximum size of all holds. Clients can invent API keys of 2 KB, and a forgotten hold costs one request that is refused. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Size of a hold, besides its key. */
const BYTES_PER_HOLD = 256;

/**
 * Sends no calls of a credential when the service has said that it would refuse them, and until when: they would only be counted against
 * it. Other credentials are not touched. Answers of calls that were sent before do not end it, for they are of the time before.
 */
export function createThrottle(
  { maxRetryAfterSeconds }: Pick<Settings, 'maxRetryAfterSeconds'>,
  now: () => number = () => performance.now(),
): UpstreamThrottle {
  const minSeconds = Math.max(MIN_SECONDS, maxRetryAfterSeconds); // Retries wait for shorter ones.
  const holds = new LRUCache<string, Hold>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_HOLD + credential.length,
  });

  async function tryOne<T>(credential: string, hold: Hold, attempt: () => Promise<T>): Promise<T> {
    const end = () => {
      if (hold.until <= now()) {
        holds.delete(credential); // It was answered, and no new time was named.
      }
    };
    hold.isTrying = true;
    try {
      const result = await attempt();
      end();
      return result;
    } catch (error) {
      if (isUpstreamError(error) && error.status !== undefined && error.code !== 'RATE_LIMITED') {
        end();
      }
      throw error; // Without an answer nothing is known, so the next one tries at once.
    } finally {
      hold.isTrying = false;
    }
  }

  async function afterHold<T>(
    credential: string,
    hold: Hold,
    endpoint: Endpoint,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const left = hold.until - now();
    if (left > 0 || hold.isTrying) {
      const resetSeconds = Math.max(1, Math.ceil(left / 1_000));
      throw heldBack(endpoint, { limit: hold.limit, remaining: 0, resetSeconds });
    }
    if (hold.isCutShort) {
      return tryOne(credential, hold, attempt);
    }
    holds.delete(credential);
    return attempt();
  }

  function run<T>(credential: string, endpoint: Endpoint, attempt: () => Promise<T>): Promise<T> {
    const hold = holds.size === 0 ? undefined : holds.get(credential); // Mostly there is none.
    return hold === undefined ? attempt() : afterHold(credential, hold, endpoint, attempt);
  }

  function note(credential: string, { limit, remaining, resetSeconds = 0 }: UpstreamRateLimit): void {
    if (remaining > 0 || resetSeconds <= minSeconds) {
      return;
    }
    const until = now() + Math.min(resetSeconds, MAX_SECONDS) * 1_000;
    const known = holds.get(credential);
    if (known !== undefined && known.until >= until) {
      return;
    }
    const isCutShort = resetSeconds > MAX_SECONDS;
    holds.set(credential, Object.assign(known ?? { isTrying: false }, { until, isCutShort, limit }));
  }

  return Object.assign(run, { note });
}
