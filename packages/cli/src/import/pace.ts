// Decides when the next call of a long command may be sent, and when to give up: failing 100,000 times one by one helps nobody.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandLine } from '../command.ts';
import { readInteger } from '../command-line.ts';
import { ImportError } from './results.ts';

/** Failures in succession after which something is wrong with all. */
const MAX_FAILURES = 100;

/** Default of `--max-wait`, in seconds. */
const DEFAULT_MAX_WAIT = 600;

/** Longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 30_000;

/** First pause between two tries, in milliseconds. It doubles, and begins when the client's retries have failed. */
const FIRST_PAUSE_MS = 100;

/** Time without an answer after which the user is told, in milliseconds. */
const REPORTED_MS = 5_000;

export interface PaceOptions {
  /** Words of messages: the command, and what it sends. */
  words: { command: string; item: string; items: string };
  note: (text: string) => void;
  /** Maximum calls per second, also of those that are sent again. @default unlimited */
  rate: number | undefined;
  /** Longest time without an answer, and longest pause for the rate limit, in milliseconds. */
  maxWaitMs: number;
  /** Aborted to make no more calls. Those in flight end by themselves. */
  stopping: AbortSignal;
}

/** Reads the options about the pace. @param problems receives those of the options */
export const readPace = (options: CommandLine['options'], problems: string[]) => ({
  rate: readInteger(options, 'rate', [1, 999_999], problems),
  maxWaitMs: (readInteger(options, 'max-wait', [0, 999_999], problems) ?? DEFAULT_MAX_WAIT) * 1_000,
});

/** Pace of a command that calls the service for each of many items. */
export class Pace {
  readonly #options: PaceOptions;
  readonly #intervalMs: number;
  #nextAt = 0;
  /** End of the pause for the service's rate limit. */
  #pausedUntil = 0;
  #answeredAt = performance.now();
  /** Time since which the service has answered nothing, without the pause for the rate limit that its last answer announced. */
  #silentSince = performance.now();
  #failures = 0;
  /** Whether an item was applied. */
  hasSucceeded = false;
  #report: NodeJS.Timeout | undefined;
  #isReported = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#intervalMs = 1_000 / (options.rate ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Waits until a call may be sent.
   *
   * @returns whether it may; otherwise the command is stopping
   */
  async turn(): Promise<boolean> {
    while (!this.#options.stopping.aborted) {
      const now = performance.now();
      const at = Math.max(now, this.#nextAt, this.#pausedUntil);
      if (at === now) {
        this.#nextAt = now + this.#intervalMs;
        return true;
      }
      await this.#wait(at - now);
    }
    return false;
  }

  /** Notes further requests of a call, such as retries, which delay the next turn. */
  addRequests(count: number): void {
    this.#nextAt = Math.max(this.#nextAt, performance.now()) + Math.max(0, count) * this.#intervalMs;
  }

  /** Pauses calls, unless the pause is longer than the user wants: then the service's rejection ends the command. */
  pause(milliseconds: number): void {
    if (milliseconds <= this.#options.maxWaitMs) {
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + milliseconds);
    }
  }

  /** Notes that an item was applied. */
  succeeded(): void {
    this.answered();
    this.#failures = 0;
    this.hasSucceeded = true;
  }

  /** Notes that an item has failed. @throws {ImportError} if too many have, and none was applied in between */
  failed(reason: string): void {
    const { items, command } = this.#options.words;
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) {
      throw new ImportError(
        `${MAX_FAILURES} ${items} in succession failed, so ${command} stopped. The last reason: ${reason}`,
      );
    }
  }

  /** Notes that the service answered, even if it rejected an item. */
  answered(): void {
    this.#answeredAt = performance.now();
    this.#silentSince = Math.max(this.#answeredAt, this.#pausedUntil);
    clearTimeout(this.#report);
    this.#report = undefined;
    if (this.#isReported) {
      this.#isReported = false;
      this.#options.note('Continuing: the service answers again.');
    }
  }

  answeredSince(time: number): boolean {
    return this.#answeredAt > time;
  }

  /**
   * Waits before another try. The pause is shortened to end with the longest time without an answer.
   *
   * @param message message of the error without personal data
   * @param tries number of tries before
   * @throws {ImportError} if that time has passed, or the service's rate limit resets later
   */
  async backOff(
    { code, retryAfterSeconds = 0 }: { code: string; retryAfterSeconds?: number | undefined },
    message: string,
    tries: number,
  ): Promise<void> {
    const { maxWaitMs, note, words } = this.#options;
    if (code === 'RATE_LIMITED' && retryAfterSeconds * 1_000 > maxWaitMs) {
      throw new ImportError(
        `The service's rate limit permits no call for ${retryAfterSeconds} s, which is longer than --max-wait.`,
      );
    }
    const waitedMs = Math.max(0, performance.now() - this.#silentSince);
    const leftMs = maxWaitMs - waitedMs;
    if (leftMs <= 0) {
      const seconds = Math.round(waitedMs / 1_000);
      throw new ImportError(
        code === 'RATE_LIMITED'
          ? `The service's rate limit has permitted no call for ${seconds} s. Find out what else uses this API key, or set a longer --max-wait.`
          : `No ${words.item} was answered for ${seconds} s. The last reason: ${message} (${code})`,
      );
    }
    // The user isn't told if the service answers soon.
    this.#report ??= setTimeout(() => {
      this.#isReported = true;
      note(`Waiting: ${message}`);
    }, REPORTED_MS);
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
    const jitter = 0.5 + Math.random() / 2;
    await this.#wait(Math.min(retryAfterSeconds * 1_000 + pauseMs * jitter, leftMs));
  }

  /** Waits, until the command is stopping at the latest. */
  async #wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#options.stopping }).catch(() => {});
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#report);
  }
}
