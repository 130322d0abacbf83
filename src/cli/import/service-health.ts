import type { UpstreamError } from '../../upstream/errors.ts';
import { formatDuration } from './format.ts';
import { ImportError } from './import-error.ts';
import type { RowResult } from './results.ts';

/** Failed rows in succession after which something is wrong with all of them. */
const MAX_FAILURES = 100;

/** Time without an answer after which the user is told, in milliseconds. */
const REPORTED_MS = 5_000;

/** Pauses for the service's rate limit that the user is told about, in milliseconds. Shorter ones are its normal course. */
const REPORTED_PAUSE_MS = 20_000;

/** State of the service, which decides when an import gives up: failing 100,000 rows one by one helps nobody. */
export class ServiceHealth implements Disposable {
  readonly #maxWaitMs: number;
  readonly #note: (text: string) => void;
  /** Time of the last answer, or of the end of a pause for the rate limit. */
  #answeredAt = performance.now();
  #pausedUntil = 0;
  #failures = 0;
  #hasApplied = false;
  #report: NodeJS.Timeout | undefined;
  #isReported = false;

  /**
   * @param maxWaitMs longest time without an answer, in milliseconds
   * @param note tells the user
   */
  constructor(maxWaitMs: number, note: (text: string) => void) {
    this.#maxWaitMs = maxWaitMs;
    this.#note = note;
  }

  /** Whether a row was applied. */
  get hasApplied(): boolean {
    return this.#hasApplied;
  }

  /** Notes that a row was applied. */
  succeeded(): void {
    this.answered();
    this.#failures = 0;
    this.#hasApplied = true;
  }

  /** Notes that a row has failed. @throws {ImportError} if too many have, and none was applied in between */
  failed({ code, message }: RowResult): void {
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) {
      throw new ImportError(
        `${MAX_FAILURES} rows in succession failed, so the import stopped. The last reason: ${message} (${code})`,
      );
    }
  }

  /** Notes that the service answered, even if it rejected a row. */
  answered(): void {
    this.#answeredAt = performance.now();
    clearTimeout(this.#report);
    this.#report = undefined;
    if (this.#isReported) {
      this.#isReported = false;
      this.#note('Continuing: the service answers again.');
    }
  }

  /** Whether the service answered since then. */
  answeredSince(time: number): boolean {
    return this.#answeredAt > time;
  }

  /** Notes that no call is sent for a time, in milliseconds, because the service's rate limit is used up. It doesn't count as an outage. */
  paused(milliseconds: number): void {
    if (milliseconds > 0) {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + milliseconds);
    }
    if (milliseconds > REPORTED_PAUSE_MS) {
      this.#reportLater(`The service's rate limit permits the next call in ${formatDuration(milliseconds / 1_000)}.`);
    }
  }

  /**
   * Returns the duration of a pause before another try, in milliseconds. It is shortened to end with the longest time without an answer.
   *
   * @param message message of the error without personal data
   * @throws {ImportError} if that time has passed, or the service's rate limit resets later
   */
  planPause({ code, retryAfterSeconds = 0 }: UpstreamError, message: string, backoffMs: number): number {
    if (code === 'RATE_LIMITED' && retryAfterSeconds * 1_000 > this.#maxWaitMs) {
      throw new ImportError(
        `The service's rate limit permits no call for ${retryAfterSeconds} s, which is longer than --max-wait.`,
      );
    }
    const waitedMs = Math.max(0, performance.now() - Math.max(this.#answeredAt, this.#pausedUntil));
    const leftMs = this.#maxWaitMs - waitedMs;
    if (leftMs <= 0) {
      const seconds = Math.round(waitedMs / 1_000);
      throw new ImportError(`No row was answered for ${seconds} s. The last reason: ${message} (${code})`);
    }
    this.#reportLater(message);
    return Math.min(retryAfterSeconds * 1_000 + backoffMs, leftMs);
  }

  /** Tells the user, unless the service answers soon. */
  #reportLater(message: string): void {
    if (this.#report === undefined) {
      const report = () => {
        this.#isReported = true;
        this.#note(`Waiting: ${message}`);
      };
      this.#report = setTimeout(report, REPORTED_MS);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#report);
  }
}
