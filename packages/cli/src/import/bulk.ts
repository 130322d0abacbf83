// Sends rows together, many in one call, and those one by one that the service doesn't apply so.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSubscribers, type SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import { isUpstreamError } from '../../../../src/upstream/errors.ts';
import { formatRows } from './report.ts';
import type { PendingRow } from './results.ts';
import { createSender, describeError, isTemporary, MAX_TRIES, NO_ENDPOINT, runWorkers, type Sending } from './send.ts';

/** Maximum rows of a call. The service rejects more. */
const MAX_ROWS = 500;

/** Maximum size of the rows of a call in bytes. The service fails on bodies above 100 KiB. */
const MAX_BYTES = 100_000;

/** Calls that are in flight at a time. */
const CONCURRENCY = 2;

/** The service counts it as 100 calls, and can take as long for it. */
const CALL = { cost: 100, timeoutMs: 60_000 };

/** Failed calls in succession after which rows are sent one by one. */
const MAX_FAILURES = 3;

/** Statuses that say that the content of a row is wrong, or that of all of them too long. */
const CONTENT_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);

const STALE = 'If the service has them in its cache, it can use their old values for two hours.';

/** Stored for rows whose response never came, because the process was killed. */
const INTERRUPTED = { message: 'The import was interrupted before the service responded.' };

/** Not repeated by the client if it may have been applied: the rows are sent one by one then, which shows which ones it has created. */
const createMany = {
  ...createSubscribers.takes<{ body: { subscribers: readonly SubscriberFields[] } }>().returns<unknown>(),
  repeatable: false,
  timeoutMs: CALL.timeoutMs,
};

const IDS = z.array(z.object({ subscriberId: z.string() })).catch([]);
const APPLIED = z.object({ created: IDS, updated: IDS }).catch({ created: [], updated: [] });

/** Sends rows together. Ends before the last one if the service refuses this way. */
export async function sendTogether(rows: Iterator<PendingRow>, sending: Sending): Promise<void> {
  const calls = new BulkCalls(sending);
  const concurrency = Math.ceil(sending.concurrency / CONCURRENCY);
  await runWorkers(CONCURRENCY, sending, async () => {
    const { together, alone } = takeRows(rows);
    const left = together.length > 1 ? await calls.send(together) : together;
    await runWorkers(concurrency, sending, createSender([...left, ...alone].values(), sending));
    return !calls.isRefused && together.length + alone.length > 0;
  });
  if (calls.updated > 0) {
    sending.service.note(`${formatRows(calls.updated)} updated subscribers in calls with several rows. ${STALE}`);
  }
}

/** Takes the next rows: those of a call, and those among them that can't be in it. */
function takeRows(rows: Iterator<PendingRow>): Record<'together' | 'alone', PendingRow[]> {
  const taken: Record<'together' | 'alone', PendingRow[]> = { together: [], alone: [] };
  for (let bytes = 0; taken.together.length < MAX_ROWS && taken.alone.length < MAX_ROWS && bytes <= MAX_BYTES; ) {
    const { value: row } = rows.next();
    if (row === undefined) {
      break;
    }
    const size = isAlone(row) ? 0 : Buffer.byteLength(JSON.stringify(row.subscriber)) + 1; // With a comma.
    bytes += size;
    taken[size > 0 && bytes <= MAX_BYTES ? 'together' : 'alone'].push(row);
  }
  return taken;
}

/** Whether a row must be sent alone: it was sent before, or has what the response of the call doesn't show, or channels, which it would store unchecked. */
const isAlone = ({ subscriber, outcome }: PendingRow): boolean =>
  outcome !== null || subscriber.channels !== undefined || Object.values(subscriber).includes(null);

/** Calls of `POST /v1/subscribers/bulk`. */
class BulkCalls {
  /** Whether no more should be made. */
  isRefused = false;
  /** Number of rows that have updated a subscriber. */
  updated = 0;
  readonly #sending: Sending;
  #hasSucceeded = false;
  #failures = 0;

  constructor(sending: Sending) {
    this.#sending = sending;
  }

  /** Sends rows in one call. Returns those that it has not applied. While it is in flight, they are stored as rows that may have been applied. */
  async send(rows: readonly PendingRow[]): Promise<readonly PendingRow[]> {
    const { results, service } = this.#sending;
    const ids = rows.map(({ subscriber }) => subscriber.subscriberId);
    const subscribers = rows.map(({ subscriber }) => subscriber);
    const idempotencyKey = randomUUID();
    for (let tries = 0; !this.isRefused && (await service.turn()); tries += 1) {
      results.recordAll(ids, 'unknown', INTERRUPTED);
      try {
        const write = { body: { subscribers }, idempotencyKey };
        const { body } = await service.call(
          `import-${idempotencyKey}`,
          (client) => client.write(createMany, write),
          CALL,
        );
        return this.#succeeded(rows, body);
      } catch (error) {
        if (!isUpstreamError(error)) {
          throw error;
        }
        if (error.outcome === 'UNKNOWN') {
          this.#failed(error.code);
          return rows.map((row) => ({ ...row, outcome: 'unknown' }));
        }
        results.recordAll(ids, undefined);
        // Other calls can use up the rate limit each time.
        const waits = this.#hasSucceeded && error.code === 'RATE_LIMITED';
        const isAbsent = !this.#hasSucceeded && NO_ENDPOINT.has(error.status ?? 0);
        if (isAbsent || !isTemporary(error) || (tries >= MAX_TRIES && !waits)) {
          if (!CONTENT_STATUSES.has(error.status ?? 0)) {
            this.#failed(`status ${error.status}`, isAbsent);
          }
          return rows;
        }
        const message = describeError(error, { subscriberId: '', data: { subscribers } });
        await service.backOff(error, message, waits ? 0 : tries);
      }
    }
    return rows;
  }

  #succeeded(rows: readonly PendingRow[], body: unknown): PendingRow[] {
    const { results, service, progress } = this.#sending;
    const applied = APPLIED.parse(body);
    const left = new Map(rows.map((row) => [row.subscriber.subscriberId, row]));
    for (const outcome of ['created', 'updated'] as const) {
      const ids = applied[outcome].map(({ subscriberId }) => subscriberId).filter((id) => left.delete(id));
      results.recordAll(ids, outcome);
      progress.applied += ids.length;
      this.updated += outcome === 'updated' ? ids.length : 0;
    }
    results.recordAll([...left.keys()], undefined);
    if (left.size === rows.length) {
      this.#failed('no row was applied');
    } else {
      service.succeeded();
      this.#hasSucceeded = true;
      this.#failures = 0;
    }
    return [...left.values()];
  }

  #failed(reason: string, isAbsent = false): void {
    this.#failures += 1;
    if (!this.isRefused && (isAbsent || this.#failures >= MAX_FAILURES)) {
      this.isRefused = true;
      const symptom = isAbsent ? 'The service has no' : `${MAX_FAILURES} calls in succession failed of`;
      this.#sending.service.note(`${symptom} POST /v1/subscribers/bulk (${reason}), so rows are sent one by one.`);
    }
  }
}
