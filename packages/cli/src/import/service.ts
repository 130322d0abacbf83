// Calls the service of an import: when the next call may be sent, and when to give up.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { watchFiles } from '../../../../src/files/file-watcher.ts';
import { Abort } from '../../../../src/lib/signal.ts';
import { Usage } from '../../../../src/telemetry/usage.ts';
import type { UpstreamClient } from '../../../../src/upstream/calls.ts';
import { listNotificationGroups, type NotificationGroupBody } from '../../../../src/upstream/endpoints.ts';
import { isUpstreamError, type UpstreamError } from '../../../../src/upstream/errors.ts';
import { openService, type UpstreamService } from '../../../../src/upstream/service.ts';
import type { ServiceSettings } from '../find-service.ts';
import { ImportError } from './results.ts';

/** Failed rows in succession after which something is wrong with all of them. */
const MAX_FAILURES = 100;

/** Longest pause between two tries of a row, in milliseconds. */
const MAX_PAUSE_MS = 30_000;

/** First pause between two tries of a row, in milliseconds. It doubles, and begins when the client's retries have failed. */
const FIRST_PAUSE_MS = 100;

/** Time without an answer after which the user is told, in milliseconds. */
const REPORTED_MS = 5_000;

interface ServiceOptions {
  url: URL;
  settings: ServiceSettings;
  credential: string;
  logger: Logger;
  note: (text: string) => void;
  /** Maximum calls per second, also of those that the client sends again. @default unlimited */
  rate: number | undefined;
  /** Longest time without an answer, and longest pause for the rate limit, in milliseconds. */
  maxWaitMs: number;
  /** Aborted to make no more calls. Those in flight end by themselves. */
  stopping: AbortSignal;
}

/**
 * Service that gets the subscribers. Calls go through the gateway's client with all its policies. Decides when the next call may be sent, and when
 * an import gives up: failing 100,000 rows one by one helps nobody.
 */
export class ImportService implements AsyncDisposable {
  readonly #options: ServiceOptions;
  readonly #service: UpstreamService;
  readonly #certificates: Disposable;
  /** Number of calls as which the service counts those in flight. */
  #inFlight = 0;
  #nextAt = 0;
  readonly #intervalMs: number;
  /** End of the pause for the service's rate limit. */
  #pausedUntil = 0;
  #answeredAt = performance.now();
  /** Time since which the service has answered nothing, without the pause for the rate limit that its last answer announced. */
  #silentSince = performance.now();
  #failures = 0;
  #report: NodeJS.Timeout | undefined;
  #isReported = false;
  hasApplied = false;

  /** @throws {SecretError} if a certificate is invalid */
  constructor(options: ServiceOptions) {
    const { url, settings, logger } = options;
    this.#options = options;
    this.#intervalMs = 1_000 / (options.rate ?? Number.POSITIVE_INFINITY);
    this.#service = openService(url, settings, {
      logger,
      breakerMinimumCalls: Number.POSITIVE_INFINITY, // The import waits by itself: rows that break connections are no outage.
    });
    this.#certificates = watchFiles(this.#service.files, settings.reloadSeconds, logger);
  }

  /** Address of the service, the same for all ways to write it. */
  get address(): string {
    return this.#service.address;
  }

  /**
   * Waits until a call may be sent.
   *
   * @returns whether it may; otherwise the import is stopping
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

  /**
   * Makes a call, which has the time limit of an operation. Pauses the next ones if those in flight use up the service's rate limit. Its further requests,
   * such as retries, delay the next turn.
   *
   * @param cost number of calls as which the service counts it
   */
  async call<T>(requestId: string, send: (client: UpstreamClient) => Promise<T>, cost = 1): Promise<T> {
    const { settings, credential, maxWaitMs } = this.#options;
    const usage = new Usage();
    const deadlineAt = performance.now() + settings.operationTimeoutMs;
    const context = { credential, signal: new Abort(), deadlineAt, requestId, events: usage };
    this.#inFlight += cost;
    try {
      return await send(this.#service.bind(context));
    } finally {
      this.#inFlight -= cost;
      this.#nextAt = Math.max(this.#nextAt, performance.now()) + Math.max(0, usage.requests - 1) * this.#intervalMs;
      const { remaining = Number.POSITIVE_INFINITY, resetSeconds = 0 } = usage.rateLimit ?? {};
      // After a longer pause than the user wants, the service's rejection ends the import.
      if (remaining < this.#inFlight + cost && resetSeconds * 1_000 <= maxWaitMs) {
        this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + resetSeconds * 1_000);
      }
    }
  }

  /** Reads the notification groups, the only read without parameters. Returns the error if it fails. */
  async readGroups(): Promise<readonly NotificationGroupBody[] | UpstreamError> {
    const read = this.call('import', async (client) => (await client.read(listNotificationGroups, {})) ?? []);
    return read.catch((error: unknown) => (isUpstreamError(error) ? error : Promise.reject(error)));
  }

  /** Notes that a row was applied. */
  succeeded(): void {
    this.answered();
    this.#failures = 0;
    this.hasApplied = true;
  }

  /** Notes that a row has failed. @throws {ImportError} if too many have, and none was applied in between */
  failed(code: string, message: string): void {
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
    this.#silentSince = Math.max(this.#answeredAt, this.#pausedUntil);
    clearTimeout(this.#report);
    this.#report = undefined;
    if (this.#isReported) {
      this.#isReported = false;
      this.#options.note('Continuing: the service answers again.');
    }
  }

  /**
   * Whether the import has created a record: it isn't older than the first request, on the service's clock. Its `updatedAt` says nothing, because a
   * record that was never changed, or was found by an upsert, has that of its creation.
   *
   * @param date header `Date` of the response
   * @param since start of the import that sent the first request, in milliseconds since 1970
   */
  isNew(createdAt: string, since: number, date = new Date().toUTCString()): boolean {
    return Date.parse(createdAt) >= Date.parse(date) - (Date.now() - since);
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
  async backOff({ code, retryAfterSeconds = 0 }: UpstreamError, message: string, tries: number): Promise<void> {
    const { maxWaitMs, note } = this.#options;
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
          : `No row was answered for ${seconds} s. The last reason: ${message} (${code})`,
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

  /** Waits, until the import is stopping at the latest. */
  async #wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#options.stopping }).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#report);
    this.#certificates[Symbol.dispose]();
    await this.#service.close();
  }
}
