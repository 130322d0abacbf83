import type { Clock } from './clock.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';

/** Requests per second of each API key, more than one process can answer. */
export const DEFAULT_RATE_LIMIT = 100_000;

/** Counts the requests of each API key in windows of one second, and reports them in the `RateLimit` headers of the service. */
export class RateLimit {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #windows = new Map<Environment['id'], { second: number; count: number }>();

  /** @param limit requests per second and API key */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /**
   * Counts a request.
   *
   * @returns headers of its response
   * @throws {ApiError} 429 if the key has no requests left in this second
   */
  count({ id }: Environment): Record<string, string> {
    const second = Math.floor(this.#clock().getTime() / 1000);
    const previous = this.#windows.get(id);
    const count = previous?.second === second ? previous.count + 1 : 1;
    this.#windows.set(id, { second, count });
    const headers = {
      'RateLimit-Limit': String(this.#limit),
      'RateLimit-Remaining': String(Math.max(0, this.#limit - count)),
      'RateLimit-Reset': '1',
      'RateLimit-Policy': `${this.#limit};w=1`,
    };
    if (count > this.#limit) {
      const message = `Too many requests. This API key can send ${this.#limit} per second. Try again in a second.`;
      throw new ApiError(429, message, { headers: { ...headers, 'Retry-After': '1' } });
    }
    return headers;
  }
}
