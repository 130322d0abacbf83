import type { UpstreamError } from '../../upstream/errors/errors.ts';
import { ImportError } from './import-error.ts';
import type { RowResult } from './results.ts';

/** Failed rows in a row after which something is wrong with all of them. */
const MAX_FAILURES = 100;

/** Time without an answer after which the user is told, in milliseconds. */
const REPORTED_MS = 5_000;

/** State of the service, which decides when an import gives up: failing 100,000 rows one by one helps nobody. */
export class Health {
  readonly #maxWaitMs: number;
  #answeredAt = performance.now();
  readonly #note: (text: string) => void;
  #failures = 0;
  #isReported = false;

  /**
   * @param maxWaitMs longest time without an answer, in milliseconds
   * @param note tells the user
   */
  constructor(maxWaitMs: number, note: (text: string) => void) {
    this.#maxWaitMs = maxWaitMs;
    this.#note = note;
  }

  /** Notes that a row was applied. */
  succeeded(): void {
    this.#noteAnswer();
    this.#failures = 0;
  }

  /** Notes that a row has failed. @throws {ImportError} if too many have, and none was applied in between */
  failed({ code, message }: RowResult): void {
    this.#noteAnswer();
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) {
      throw new ImportError(`${MAX_FAILURES} rows in succession have failed. The last reason: ${message} (${code})`);
    }
  }

  /** Whether a row got an answer since then. */
  answeredSince(time: number): boolean {
    return this.#answeredAt > time;
  }

  /**
   * Returns the duration of a pause before another try, in milliseconds. It is shortened to end with the longest time without an answer.
   *
   * @throws {ImportError} if that time has passed, or will pass before the service's rate limit resets
   */
  planPause({ code, message }: UpstreamError, pauseMs: number): number {
    const waitedMs = performance.now() - this.#answeredAt;
    const leftMs = this.#maxWaitMs - waitedMs;
    if (code === 'RATE_LIMITED' && pauseMs > leftMs) {
      const seconds = Math.ceil(pauseMs / 1_000);
      throw new ImportError(
        `The service's rate limit permits no call for ${seconds} s, which is longer than --max-wait.`,
      );
    }
    if (leftMs <= 0) {
      const seconds = Math.round(waitedMs / 1_000);
      throw new ImportError(`No row was answered for ${seconds} s. The last reason: ${message} (${code})`);
    }
    if (!this.#isReported && waitedMs + pauseMs > REPORTED_MS) {
      this.#isReported = true;
      this.#note(`Waiting: ${message}`);
    }
    return Math.min(pauseMs, leftMs);
  }

  #noteAnswer(): void {
    this.#answeredAt = performance.now();
    if (this.#isReported) {
      this.#isReported = false;
      this.#note('Continuing: the service answers again.');
    }
  }
}
