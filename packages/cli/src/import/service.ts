// Calls the service of an import.

import type { Logger } from 'pino';
import { watchFiles } from '../../../../src/files/file-watcher.ts';
import { Usage } from '../../../../src/telemetry/usage.ts';
import type { UpstreamClient } from '../../../../src/upstream/calls.ts';
import { listNotificationGroups, type NotificationGroupBody } from '../../../../src/upstream/endpoints.ts';
import { isUpstreamError, type UpstreamError } from '../../../../src/upstream/errors.ts';
import { openService, type UpstreamService } from '../../../../src/upstream/service.ts';
import type { ServiceSettings } from '../find-service.ts';
import { Pace, type PaceOptions } from './pace.ts';

interface ServiceOptions extends Omit<PaceOptions, 'words'> {
  url: URL;
  settings: ServiceSettings;
  credential: string;
  logger: Logger;
}

/** Service that gets the subscribers. Calls go through the gateway's client with all its policies. */
export class ImportService {
  readonly pace: Pace;
  readonly #options: ServiceOptions;
  readonly #service: UpstreamService;
  readonly #certificates: Disposable;
  /** Number of calls as which the service counts those in flight. */
  #inFlight = 0;

  /** @throws {SecretError} if a certificate is invalid */
  constructor(options: ServiceOptions) {
    const { url, settings, logger } = options;
    this.pace = new Pace({ ...options, words: { command: 'the import', item: 'row', items: 'rows' } });
    this.#options = options;
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
   * Makes a call, which has the time limit of an operation. Pauses the next ones if those in flight use up the service's rate limit. Its further requests,
   * such as retries, delay the next turn.
   *
   * @param cost number of calls as which the service counts it
   */
  async call<T>(requestId: string, send: (client: UpstreamClient) => Promise<T>, cost = 1): Promise<T> {
    const { settings, credential } = this.#options;
    const usage = new Usage();
    const deadlineAt = performance.now() + settings.operationTimeoutMs;
    const context = { credential, signal: new AbortController().signal, deadlineAt, requestId, events: usage };
    this.#inFlight += cost;
    try {
      return await send(this.#service.bind(context));
    } finally {
      this.#inFlight -= cost;
      this.pace.addRequests(usage.requests - 1);
      const { remaining = Number.POSITIVE_INFINITY, resetSeconds = 0 } = usage.rateLimit ?? {};
      if (remaining < this.#inFlight + cost) {
        this.pace.pause(resetSeconds * 1_000);
      }
    }
  }

  /** Reads the notification groups, the only read without parameters. Returns the error if it fails. */
  async readGroups(): Promise<readonly NotificationGroupBody[] | UpstreamError> {
    const read = this.call('import', async (client) => (await client.read(listNotificationGroups, {})) ?? []);
    return read.catch((error: unknown) => (isUpstreamError(error) ? error : Promise.reject(error)));
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.pace[Symbol.dispose]();
    this.#certificates[Symbol.dispose]();
    await this.#service.close();
  }
}
