import { type Endpoint, isUpstreamError } from '../errors/errors.ts';
import { heldBack } from '../errors/failures.ts';
import type { UpstreamRateLimit } from '../errors/rate-limit.ts';

export interface ThrottleOptions {
  /** A limit that ends within this time holds nothing back. @default 3, or what retries obey where that is more */
  minSeconds?: number;
  /** The longest time without a try, whatever the service says. @default 60 */
  maxSeconds?: number;
  /** Milliseconds on any clock that only goes forward. @default performance.now */
  now?: () => number;
}

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

/** Those that have ended are looked for when there are this many, and then each time there are twice as many as were left. */
const MANY = 1_000;

/**
 * Sends no calls of a credential when the service has said that it would refuse them, and until when: they would only be counted against
 * it. Other credentials are not touched. Answers of calls that were sent before do not end it, for they are of the time before.
 */
export function createThrottle({
  minSeconds = 3,
  maxSeconds = 60,
  now = () => performance.now(),
}: ThrottleOptions = {}): UpstreamThrottle {
  const holds = new Map<string, Hold>();
  let many = MANY;

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
    const until = now() + Math.min(resetSeconds, maxSeconds) * 1_000;
    const known = holds.get(credential);
    if (known === undefined) {
      sweep();
    } else if (known.until >= until) {
      return;
    }
    const isCutShort = resetSeconds > maxSeconds;
    holds.set(credential, Object.assign(known ?? { isTrying: false }, { until, isCutShort, limit }));
  }

  function sweep(): void {
    if (holds.size >= many) {
      for (const [credential, { until, isTrying }] of holds) {
        if (until <= now() && !isTrying) {
          holds.delete(credential);
        }
      }
      many = Math.max(MANY, 2 * holds.size);
    }
  }

  return Object.assign(run, { note });
}
